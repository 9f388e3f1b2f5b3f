// Stands for a decoder that a picture has taken over: started as the decoder is, it writes what an attacker would. Its
// argument says what.
import { dlopen } from 'node:ffi';
import { readSync, writeSync } from 'node:fs';
import { serialize } from 'node:v8';
import { encodeReply } from '#src/pictures/decoder-messages.ts';

const write = (bytes: Buffer): void => {
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
};
const withLength = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
/** A reply of any form: the lengths, the header, what follows. */
const forge = (header: unknown, more = Buffer.alloc(0)): Buffer => {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeUInt32LE(more.length, 4);
  return Buffer.concat([prefix, text, more]);
};
/** A reply of our form, with a result of any form. */
const forgeReply = (decoded: unknown, more?: Buffer<ArrayBuffer>): Buffer => forge({ decoded, ms: 0 }, more);
const endless = (first: Buffer): void => {
  write(first);
  for (const piece = Buffer.alloc(65_536); ; ) write(piece);
};
const shown = { outcome: 'shown', width: 1, height: 1, frames: 1, dhash: '1', thumbnails: [1, 1, 1, 1] };
const webps = Buffer.from('abcd');

const header = Buffer.alloc(8);
const readPicture = (): void => {
  for (let left = header.readUInt32LE(0); left > 0; ) left -= readSync(0, Buffer.alloc(left));
};
const broken = encodeReply({ decoded: { outcome: 'broken' }, ms: 0, unconfined: undefined });

const WAYS: Record<string, () => void> = {
  'a message of the protocol of Node': () => write(withLength(serialize({ cmd: 'NODE_HANDLE_ACK' }))),
  'a reply without end': () => endless(Buffer.alloc(8, 0xff)),
  'thumbnails without end': () => endless(forgeReply(shown)),
  'another picture': () => write(forgeReply({ ...shown, sha256: 'ab', format: '../..', bytes: -1 }, webps)),
  'an outcome that there is not': () => write(forgeReply({ outcome: 'passed' })),
  'a hash that is no number': () => write(forgeReply({ ...shown, dhash: '1e999999999' }, webps)),
  'thumbnails of other lengths': () => write(forgeReply({ ...shown, thumbnails: [1, 1, 1, 9_000] }, webps)),
  'a header that is no JSON': () => write(forge('[['.repeat(500))),
  'a reply to the first picture alone': () => {
    readPicture();
    write(broken);
    readSync(0, Buffer.alloc(8));
  },
  'memory between two pictures': () => {
    write(broken);
    for (const kept: Buffer[] = []; ; ) kept.push(Buffer.alloc(10_000_000, 1));
  },
  'from a thousand threads': () => {
    const { lib, functions } = dlopen(null, {
      pthread_create: { arguments: ['buffer', 'u64', 'u64', 'u64'], return: 'i32' },
    });
    for (let left = 1_000; left > 0; left -= 1)
      functions.pthread_create(Buffer.alloc(8), 0n, lib.getSymbol('pause'), 0n);
    for (;;) readSync(0, Buffer.alloc(65_536));
  },
  'nothing more from its main thread': () => {
    const { syscall } = dlopen(null, { syscall: { arguments: ['i64', 'i64'], return: 'i64' } }).functions;
    syscall(process.arch === 'x64' ? 60n : 93n, 0n);
  },
};

// The sample, which each process gets first.
readSync(0, header);
readPicture();
write(broken);
readSync(0, header);
WAYS[process.argv[2] ?? '']?.();
