/** Says what is wrong if workers take jobs from more than one queue. */
export const explainWorkerQueues = (names: readonly string[]): string | undefined => {
  if (names.length < 2) return undefined;
  const what = `Workers take jobs from ${names.length} queues (${names.join(', ')})`;
  return `${what}, so each schedule runs in each of them: give all processes the same REDIS_URL and QUEUE_PREFIX.`;
};
