import { readdir, stat } from 'node:fs/promises';

/** Counts the descriptors of this process that are open for a file. */
export const countOpen = async (path: string): Promise<number> => {
  const { ino } = await stat(path);
  const descriptors = await readdir('/proc/self/fd');
  const files = descriptors.map((fd) => stat(`/proc/self/fd/${fd}`).catch(() => undefined));
  return (await Promise.all(files)).filter((each) => each?.ino === ino).length;
};
