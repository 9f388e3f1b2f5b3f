/** What a process holds: its heap by the inspector, and all its writable memory by the kernel. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** @param log stderr of a process that was started with `--inspect` @returns a heap snapshot, as JSON */
export const takeHeapSnapshot = async (log: string): Promise<string> => {
  const [url] = /ws:\/\/\S+/.exec(log) ?? [];
  if (url === undefined) throw new Error(`the process has no inspector: ${log.slice(0, 300)}`);
  const socket = new WebSocket(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: string[] = [];
  socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.takeHeapSnapshot' }));
  socket.onerror = () => reject(new Error('the inspector closed the connection'));
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(message.params.chunk);
    if (message.id === 1) resolve(chunks.join(''));
  };
  try {
    return await promise;
  } finally {
    socket.close();
  }
};

const REGION_MAX = 512 * 1024 * 1024;

/**
 * Searches the writable memory of a child process, in UTF-8 and UTF-16.
 * @param marks every text contains one of these: a region without any is not searched further
 * @returns the texts that were found; undefined where the system does not allow a look
 */
export const searchMemory = (
  pid: number,
  texts: readonly string[],
  marks: readonly string[],
): string[] | undefined => {
  let memory: number;
  try {
    memory = openSync(`/proc/${pid}/mem`, 'r');
  } catch {
    return undefined;
  }
  const inBoth = (text: string) => [Buffer.from(text), Buffer.from(text, 'utf16le')];
  const wanted = texts.map((text) => ({ text, forms: inBoth(text) }));
  const marked = marks.flatMap(inBoth);
  const found = new Set<string>();
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      const size = Number.parseInt(to, 16) - Number.parseInt(from, 16);
      if (from === '' || size > REGION_MAX) continue;
      const bytes = Buffer.alloc(size);
      let read = 0;
      try {
        read = readSync(memory, bytes, 0, size, Number.parseInt(from, 16));
      } catch {
        continue; // A region of the kernel, or one that was unmapped meanwhile.
      }
      const part = bytes.subarray(0, read);
      if (!marked.some((mark) => part.includes(mark))) continue;
      for (const { text, forms } of wanted) if (forms.some((form) => part.includes(form))) found.add(text);
    }
  } finally {
    closeSync(memory);
  }
  return [...found];
};
