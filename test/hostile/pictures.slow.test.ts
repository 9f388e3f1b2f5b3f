import { expect, test } from 'vitest';
import { sniffImage } from '#src/rules/pictures.ts';
import { brokenPictures, feedPictures } from '#test/hostile/broken-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test('broken pictures by the hundred, 49 megapixels of each type and heavy ones: the process lives, within 512 MiB', async () => {
  const { outcomes, ...fed } = await feedPictures(database, { broken: 300, heavy: 6 });
  expect(fed.isAlive).toBe(true);
  expect(fed.peakMib).toBeLessThan(512);
  expect(fed.decoders).toBeLessThanOrEqual(8);
  expect(outcomes).not.toHaveProperty('none');
  expect(outcomes).not.toHaveProperty('too_large');
  expect(outcomes.broken).toBeGreaterThan(100);
  expect(outcomes.shown).toBeGreaterThan(20);
  expect(outcomes.undecodable ?? 0).toBe(0);
});

test('the corpus is the same at every run, and each of its pictures is another', async () => {
  const [first, second] = [await brokenPictures(60), await brokenPictures(60)];
  expect(first.map((each) => each.toString('base64'))).toEqual(second.map((each) => each.toString('base64')));
  expect(new Set(first.map((each) => each.toString('base64'))).size).toBe(60);
  expect(first.filter((each) => sniffImage(each) !== null).length).toBeGreaterThan(50);
});
