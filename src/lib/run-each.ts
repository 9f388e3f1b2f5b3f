/**
 * Runs steps one after another until an abort. A step that fails does not keep those after it from running.
 * @throws the first error, after the last step
 */
export const runEach = async <Result>(
  steps: Iterable<() => Promise<Result>>,
  signal: AbortSignal,
): Promise<Result[]> => {
  const results: Result[] = [];
  const errors: unknown[] = [];
  for (const step of steps) {
    if (signal.aborted) break;
    try {
      results.push(await step());
    } catch (thrown) {
      errors.push(thrown);
    }
  }
  if (errors.length > 0) throw errors[0];
  return results;
};
