// Stands for a decoder that a picture has taken over: started as the decoder is, it tries what an attacker would, and
// reports what worked. Its first argument says whether it confines itself before, as the decoder does.
import { execFile } from 'node:child_process';
import { dlopen, getRawPointer } from 'node:ffi';
import { writeSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { confine } from '#src/pictures/confine.ts';

const [mode = '', redisPort = '0', file = '', inherited = ''] = process.argv.slice(2);
const parent = process.ppid;
const { syscall } = dlopen(null, {
  syscall: { arguments: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64', 'i64'], return: 'i64' },
}).functions;

const isX64 = process.arch === 'x64';
/** A call of the kernel, past Node's own code. */
const call = async (number: number, ...given: (number | bigint)[]): Promise<void> => {
  const [a = 0, b = 0, c = 0, d = 0] = given.map(BigInt);
  if (syscall(BigInt(number), BigInt(a), BigInt(b), BigInt(c), BigInt(d), -1n, 0n) < 0n)
    throw new Error('refused');
};
const SIGCONT = 18;
const GIB = 1024 ** 3;
const [READ, WRITE, SHARED, PRIVATE, ANONYMOUS] = [1, 2, 0x01, 0x02, 0x20];
const [NO_RESERVE, HUGE] = [0x4000, 0x40000];
const PAGE_OUT = 21;
const memory = Buffer.alloc(64 * 1024);
const map = (length: number, access: number, flags: number): Promise<void> =>
  call(isX64 ? 9 : 222, 0, length, access, flags | ANONYMOUS | NO_RESERVE);

const ATTEMPTS: Record<string, () => Promise<unknown>> = {
  'read the environment of the media process': () => readFile(`/proc/${parent}/environ`),
  'read a file': () => readFile('/etc/passwd'),
  'write a file': () => writeFile(file, 'x'),
  'write to a descriptor that was left open': async () => writeSync(Number(inherited), 'x'),
  'connect to Redis': () =>
    new Promise((resolve, reject) =>
      connect(Number(redisPort), '127.0.0.1').on('connect', resolve).on('error', reject),
    ),
  'run a program': () => promisify(execFile)('/bin/true'),
  'signal the media process': async () => process.kill(parent, 'SIGCONT'),
  'signal it past Node': () => call(isX64 ? 234 : 131, parent, parent, SIGCONT),
  'open a descriptor of it': () => call(434, parent),
  'have memory that its size does not show': () => map(GIB, READ | WRITE, SHARED),
  'have huge pages, which its size does not show either': () => map(GIB / 2, READ | WRITE, PRIVATE | HUGE),
  'move memory to where its size does not show it either': () =>
    call(isX64 ? 28 : 233, getRawPointer(memory) & -4096n, 4_096, PAGE_OUT),
  'read pages until their table fills the memory': () => map(256 * GIB, READ, PRIVATE),
  'wait for many descriptors at once, for each of which the system needs memory': () =>
    call(isX64 ? 271 : 73, getRawPointer(Buffer.alloc(512 * 8)), 512, getRawPointer(Buffer.alloc(16))),
  'make a socket past Node': () => call(isX64 ? 41 : 198, 1, 1),
};

if (mode === 'confined') confine();
const worked: string[] = [];
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  try {
    await attempt();
    worked.push(name);
  } catch {
    // Refused.
  }
}
process.send?.(worked);
