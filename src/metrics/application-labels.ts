/** The label of applications without their own series. No application id begins with "_". */
export const OTHERS = '_others';

/**
 * Bounds the number of series: the first `max` applications get their own label. After that, an application that fails
 * replaces one that never failed, or else the one that failed longest ago.
 * @param onEvicted removes the series of this application
 * @returns the label for a call to the application, given whether the call failed
 */
export const createApplicationLabels = (
  max: number,
  onEvicted: (application_id: string) => void,
): ((application_id: string, failed: boolean) => string) => {
  const healthy = new Set<string>();
  /** In the order of their latest failures, oldest first. */
  const failing = new Set<string>();
  return (application_id, failed) => {
    const known = healthy.has(application_id) || failing.has(application_id);
    const isFull = healthy.size + failing.size >= max;
    if (!failed) {
      if (!known && isFull) return OTHERS;
      if (!known) healthy.add(application_id);
      return application_id;
    }
    if (!known && isFull) {
      const [evicted] = healthy.size > 0 ? healthy : failing;
      if (evicted !== undefined) {
        healthy.delete(evicted);
        failing.delete(evicted);
        onEvicted(evicted);
      }
    }
    healthy.delete(application_id);
    failing.delete(application_id);
    failing.add(application_id);
    return application_id;
  };
};
