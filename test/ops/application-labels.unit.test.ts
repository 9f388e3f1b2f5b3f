import { expect, test } from 'vitest';
import { createApplicationLabels, OTHERS } from '#src/metrics/application-labels.ts';

const labels = (max: number) => {
  const evicted: string[] = [];
  return { label: createApplicationLabels(max, (id) => evicted.push(id)), evicted };
};

test('in a small fleet every application has its own label', () => {
  const { label } = labels(2);
  expect([label('a', false), label('b', true), label('a', false)]).toEqual(['a', 'b', 'a']);
});

test('without free labels, applications that do not fail share one', () => {
  const { label, evicted } = labels(2);
  label('a', false);
  label('b', false);
  expect(label('c', false)).toBe(OTHERS);
  expect(label('b', false)).toBe('b');
  expect(evicted).toEqual([]);
});

test('an application that fails replaces one that does not, or that failed longest ago', () => {
  const { label, evicted } = labels(2);
  label('well', false);
  label('old', true);
  expect(label('new', true)).toBe('new');
  expect(evicted).toEqual(['well']);
  label('old', true);
  expect(label('newer', true)).toBe('newer');
  expect(evicted).toEqual(['well', 'new']);
});

test('a hundred thousand applications never have more labels than the maximum', () => {
  const { label, evicted } = labels(100);
  const seen = new Set<string>();
  let most = 0;
  for (let n = 0; n < 100_000; n += 1) {
    const given = label(`app-${n}`, n % 3 === 0);
    if (given !== OTHERS) seen.add(given);
    for (const id of evicted.splice(0)) seen.delete(id);
    most = Math.max(most, seen.size);
  }
  expect(most).toBe(100);
});
