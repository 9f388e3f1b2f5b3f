import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import {
  addressesEndAt,
  contentBytes,
  contentHash as contentHashBy,
  listHash as listHashBy,
  toGameContent,
} from '#src/rules/mapping.ts';
import { aDetail, DEFAULT_RULE, emptyContent, summaryOf } from '#test/support/factories.ts';
import { SIGNED_ADDRESSES } from '#test/support/signed-addresses.ts';

type Content = ReturnType<typeof toGameContent>;
const contentHash = (of: Content): string => contentHashBy(of, DEFAULT_RULE);
const listHash = (of: ReturnType<typeof summaryOf>): string => listHashBy(of, DEFAULT_RULE);

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

it.for(SIGNED_ADDRESSES)('hashes addresses by their identities: $signer', ({ address, again, plain }) => {
  const of = (url: string, other = url) =>
    toGameContent(aDetail({ game_icon: [url], game_store_pic: [other], game_store_video: url }));
  expect(contentHash(of(again, address))).toBe(contentHash(of(address)));
  expect(contentHash(of(address, `${address}&id=18`))).not.toBe(contentHash(of(address, `${address}&id=17`)));
  const summary = summaryOf(aDetail({ game_icon: [address] }));
  expect(listHash({ ...summary, game_icon: again })).toBe(listHash(summary));
  expect(listHash({ ...summary, game_icon: plain })).toBe(listHash(summary));
  expect(listHash({ ...summary, game_icon: `${plain}2` })).not.toBe(listHash(summary));
});

it('marks a hash with its rule if an address has a query: hashes of other rules cannot be compared', () => {
  const rules = [DEFAULT_RULE, identityRule(['t'])];
  const plain = rules.map((rule) => contentHashBy(content, rule));
  expect(new Set(plain)).toHaveProperty('size', 1);
  const queried = toGameContent(aDetail({ game_icon: ['https://cdn.example/a.png?id=1'] }));
  const tags = rules.map((rule) => contentHashBy(queried, rule).split('.')[1]);
  expect(tags).toEqual(rules.map(({ tag }) => tag));
});

it('finds the first end of all addresses', () => {
  const at = (seconds: number) => `https://cdn.example/a.png?AccessKeyId=a&Expires=${seconds}&Signature=s`;
  const of = (icon: string, picture: string, video: string) =>
    addressesEndAt(
      toGameContent(aDetail({ game_icon: [icon], game_store_pic: ['', picture], game_store_video: video })),
    );
  expect(of('https://cdn.example/a.png', '', '')).toBeNull();
  expect(of(at(300), at(200), at(100))).toEqual(new Date(100_000));
  expect(of('', at(200), '')).toEqual(new Date(200_000));
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
