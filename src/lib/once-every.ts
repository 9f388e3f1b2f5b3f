/** Creates a function that is true at most once within `everyMs`, for what must not fill a log. */
export const onceEvery = (everyMs: number): (() => boolean) => {
  let nextAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now < nextAt) return false;
    nextAt = now + everyMs;
    return true;
  };
};
