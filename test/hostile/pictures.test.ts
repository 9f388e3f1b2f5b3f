import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createDecoder } from '#src/pictures/decoder.ts';
import { aPicture } from '#test/support/pictures.ts';
import { until } from '#test/support/until.ts';

test('a decoder that is killed costs no picture: another decodes what it could not', async () => {
  const decoder = createDecoder();
  onTestFinished(decoder.close);
  const good = { bytes: await aPicture(1), format: 'png' as const };
  expect(await decoder.decode(good)).toMatchObject({ outcome: 'shown' });
  const first = decoder.pid() ?? 0;
  // The kill arrives while the first of three is decoded.
  const results = [1, 2, 3].map(() => decoder.decode(good));
  process.kill(first, 'SIGKILL');
  const outcomes = (await Promise.all(results)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['shown', 'shown', 'shown']);
  expect(decoder.lost()).toBe(1);
  expect(decoder.pid()).not.toBe(first);
});

test('a decoder that takes too long, or ends between two pictures, costs no other picture', async () => {
  const slow = createDecoder({ decodeMs: 1 });
  onTestFinished(slow.close);
  expect(await slow.decode({ bytes: await aPicture(2), format: 'png' })).toEqual({ outcome: 'undecodable' });

  const decoder = createDecoder();
  onTestFinished(decoder.close);
  const picture = { bytes: await aPicture(3), format: 'png' as const };
  await decoder.decode(picture);
  const idle = decoder.pid() ?? 0;
  process.kill(idle, 'SIGKILL');
  await until('the idle decoder has ended', () => decoder.pid() === undefined);
  expect(await decoder.decode(picture)).toMatchObject({ outcome: 'shown' });
  expect(decoder.lost()).toBe(0);
});

test('the decoder has nothing of our environment', async () => {
  const decoder = createDecoder();
  onTestFinished(decoder.close);
  await decoder.decode({ bytes: await aPicture(4), format: 'png' });
  const environment = (await readFile(`/proc/${decoder.pid()}/environ`, 'utf8')).split('\0');
  const names = environment.map((each) => each.split('=')[0]).filter((name) => name !== '');
  expect(names.filter((name) => !/^(MALLOC|VIPS|NODE_CHANNEL)_/.test(name ?? ''))).toEqual([]);
});
