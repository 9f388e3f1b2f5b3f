import { coerceError } from '#src/errors.ts';

/**
 * Runs steps one after another until an abort. A step that fails does not keep those after it from running.
 * @throws the first error, after the last step
 */
export const runEach = async <Result>(
  steps: Iterable<() => Promise<Result>>,
  signal: AbortSignal,
): Promise<Result[]> => {
  const results: Result[] = [];
  const errors: Error[] = [];
  for (const step of steps) {
    if (signal.aborted) break;
    try {
      results.push(await step());
    } catch (thrown) {
      errors.push(coerceError(thrown));
    }
  }
  if (errors[0] !== undefined) throw errors[0];
  return results;
};
