/** What stands for every application that has no label of its own. No application id begins with "_". */
export const OTHERS = '_others';

/**
 * Which applications have series of their own, so that any number of them stays a bounded number of series:
 * the first `max` that are called, and after that whichever fails takes the place of the one that failed
 * longest ago (one that never failed goes first). In a small fleet everybody has a label; in a large one those
 * in trouble have.
 * @param onEvicted remove the series of this application
 * @returns the label to count a call under
 */
export const createApplicationLabels = (
  max: number,
  onEvicted: (application_id: string) => void,
): ((application_id: string, failed: boolean) => string) => {
  /** In the order of their latest failure, those without one first. */
  const healthy = new Set<string>();
  const troubled = new Set<string>();
  return (application_id, failed) => {
    const known = healthy.has(application_id) || troubled.has(application_id);
    if (!failed) {
      if (known) return application_id;
      if (healthy.size + troubled.size >= max) return OTHERS;
      healthy.add(application_id);
      return application_id;
    }
    if (!known && healthy.size + troubled.size >= max) {
      const [evicted] = healthy.size > 0 ? healthy : troubled;
      if (evicted !== undefined) {
        healthy.delete(evicted);
        troubled.delete(evicted);
        onEvicted(evicted);
      }
    }
    healthy.delete(application_id);
    troubled.delete(application_id);
    troubled.add(application_id);
    return application_id;
  };
};
