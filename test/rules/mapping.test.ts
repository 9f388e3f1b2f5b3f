import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { contentBytes, contentHash, listHash, toGameContent } from '#src/rules/mapping.ts';
import { aDetail, emptyContent, summaryOf } from '#test/support/factories.ts';

const content = toGameContent(aDetail());

it('maps game_info to game_desc and keeps every other field of the detail to the letter', () => {
  const detail = aDetail({ game_info: '  Zwei\n\nAbsätze \u{1f3ee} ', game_name: ' spaced ' });
  expect(toGameContent(detail)).toStrictEqual({
    game_name: ' spaced ',
    game_icon: detail.game_icon,
    game_desc: '  Zwei\n\nAbsätze \u{1f3ee} ',
    game_store_video: detail.game_store_video,
    game_store_pic: detail.game_store_pic,
  });
});

it('takes nothing from the application that is the platform’s own to say', () => {
  const detail = {
    ...aDetail(),
    game_package_url: 'https://x.example/',
    audit_status: 'passed',
    audit_time: 'now',
  };
  expect(Object.keys(toGameContent(detail)).sort()).toEqual([
    'game_desc',
    'game_icon',
    'game_name',
    'game_store_pic',
    'game_store_video',
  ]);
});

it('keeps "" and [] where there is none', () => {
  const bare = aDetail({ game_icon: [], game_info: '', game_store_video: '', game_store_pic: [] });
  expect(toGameContent(bare)).toMatchObject({
    game_icon: [],
    game_desc: '',
    game_store_video: '',
    game_store_pic: [],
  });
});

it('hashes content the same in every release: a stored hash must go on meaning "unchanged"', () => {
  expect(contentHash(content)).toBe('z8hlRvD2VIypkjLuhqZ1tbJ3kT6HUimhY1mKeP-v2GI');
  expect(listHash(summaryOf(aDetail()))).toBe('iP-IYCA36dsW_QvQHY-nLp');
});

it('hashes content the same for any order of its fields', () => {
  const turned = Object.fromEntries(Object.entries(content).reverse()) as typeof content;
  expect(contentHash(turned)).toBe(contentHash(content));
});

it.for<[field: string, changes: Partial<ApplicationGameDetail>]>([
  ['game_name', { game_name: 'Lantern Harbor' }],
  ['game_icon', { game_icon: ['https://cdn.example/other.png'] }],
  ['game_info', { game_info: 'Bring the boats home.' }],
  ['game_store_video', { game_store_video: '' }],
  ['game_store_pic', { game_store_pic: ['https://cdn.example/2.png', 'https://cdn.example/1.png'] }],
])('sees a change of %s, order included', ([, changes]) => {
  expect(contentHash(toGameContent(aDetail(changes)))).not.toBe(contentHash(content));
});

it('does not take the game_id for content', () => {
  expect(contentHash(toGameContent(aDetail({ game_id: 'g-2' })))).toBe(contentHash(content));
});

it('never hashes two different contents alike by shifting text from one field to the next', () => {
  const text = fc.string({ unit: 'grapheme' });
  const list = fc.array(text, { maxLength: 3 });
  const details = fc.record({
    game_name: text,
    game_icon: list,
    game_info: text,
    game_store_video: text,
    game_store_pic: list,
  });
  fc.assert(
    fc.property(details, details, (a, b) => {
      const [left, right] = [toGameContent(aDetail(a)), toGameContent(aDetail(b))];
      expect(contentHash(left) === contentHash(right)).toBe(JSON.stringify(left) === JSON.stringify(right));
    }),
  );
});

it('hashes a list entry by what the list shows: its name and its icon', () => {
  const summary = summaryOf(aDetail());
  expect(listHash(summary)).toHaveLength(22);
  expect(listHash({ ...summary, game_id: 'g-9' })).toBe(listHash(summary));
  expect(listHash({ ...summary, game_name: 'Other' })).not.toBe(listHash(summary));
  expect(listHash({ ...summary, game_icon: '' })).not.toBe(listHash(summary));
});

it('counts the bytes of a content in UTF-8, over all fields', () => {
  expect(contentBytes(emptyContent())).toBe(0);
  expect(
    contentBytes({
      ...emptyContent(),
      game_name: 'é',
      game_icon: ['123', ''],
      game_desc: '12345',
      game_store_video: '\u{1f3ee}',
      game_store_pic: ['1', '12345678'],
    }),
  ).toBe(2 + 3 + 5 + 4 + 9);
});
