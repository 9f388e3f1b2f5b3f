/**
 * Checks that addresses and texts stay the same, because what differs in each response is a change in each run, and that
 * pictures can be fetched.
 */
import { type Case, type Finding, failed, passed, skipped } from '#src/check/case.ts';
import { detailOf, fetchDetails, fetchFirstPage, parsePage, summariesOf } from '#src/check/cases/queries.ts';
import { nameSome } from '#src/check/quote.ts';
import type { Call, Session } from '#src/check/session.ts';
import { proposeVolatile } from '#src/rules/address-changes.ts';
import { type AddressDifference, addressEnd, compareAddresses } from '#src/rules/address-identity.ts';
import { explainShortAddresses } from '#src/rules/address-lifetime.ts';

/** Details that are fetched twice. */
const DETAILS_MAX = 3;

/** An address of a game in two answers, and the call of the second one. */
type Pair = { game_id: string; field: string; before: string; after: string; call: Call };

const countOf = (pairs: readonly Pair[]): number => new Set(pairs.map(({ game_id }) => game_id)).size;

const fieldsOf = (pairs: readonly Pair[]): string => [...new Set(pairs.map(({ field }) => field))].join(', ');

const judgePairs = ({ target }: Session, pairs: readonly Pair[]): Finding => {
  if (pairs.length === 0) return skipped('there is no address in two answers');
  const all = pairs.map((pair) => ({ ...pair, ...compareAddresses(pair.before, pair.after, target.rule) }));
  const ofKind = <Kind extends AddressDifference['kind']>(kind: Kind) =>
    all.filter((each): each is Pair & Extract<AddressDifference, { kind: Kind }> => each.kind === kind);
  const [parameters, other, signed] = [ofKind('parameters'), ofKind('other'), ofKind('signature')];
  const moved = [...parameters, ...other];
  const [first] = moved;
  if (first !== undefined) {
    const names = [...new Set(parameters.flatMap((each) => each.names))];
    const { application_id, rule } = target;
    const proposal = other.length > 0 ? null : proposeVolatile(application_id, [...rule.volatile], names);
    // Names that are not fit for a command are not fit for a report either.
    const where = other.length > 0 ? '' : ` in ${proposal === null ? 'parameters' : names.join(', ')} alone`;
    const advice =
      proposal === null
        ? ''
        : `, or ask the operator of the platform for ${proposal.replace('npx catalogue ', '')}`;
    return failed(
      `${fieldsOf(moved)} of ${countOf(moved)} of ${countOf(pairs)} games differs between two answers${where}: each run returns such a game to review. Keep the addresses of unchanged pictures${advice}`,
      first.call,
    );
  }
  if (signed.length === 0) return passed;
  const by = [...new Set(signed.flatMap((each) => each.by))].join(', ');
  return { outcome: 'passed', note: `${fieldsOf(signed)} is signed anew at each answer (${by}): no change` };
};

/** The icons of the first page, in both answers. */
const listPairs = async (session: Session): Promise<Pair[]> => {
  const first = await fetchFirstPage(session);
  const again = parsePage(await session.repeat('query_game_list', first.call.body), 'list.total');
  const after = summariesOf(again);
  return [...summariesOf(first)].flatMap(([game_id, { game_icon: before }]) => {
    const icon = after.get(game_id)?.game_icon ?? '';
    return before === '' || icon === ''
      ? []
      : [{ game_id, field: 'game_icon', before, after: icon, call: again.call }];
  });
};

/** Some details, each in two answers. */
const fetchTwice = async (session: Session) => {
  const twice = [];
  for (const { game_id, call: first } of (await fetchDetails(session)).slice(0, DETAILS_MAX)) {
    const call = await session.repeat('query_game_detail', first.body);
    twice.push({ game_id, call, before: detailOf(first), after: detailOf(call) });
  }
  return twice;
};

/** The addresses of some details, in both answers. */
const detailPairs = async (session: Session): Promise<Pair[]> => {
  const pairs: Pair[] = [];
  for (const { game_id, before, after, call } of await fetchTwice(session)) {
    if (before === undefined || after === undefined) continue;
    for (const field of ['game_icon', 'game_store_pic'] as const)
      for (const [index, address] of before[field].entries())
        pairs.push({ game_id, field, before: address, after: after[field][index] ?? '', call });
    const [had, has] = [before.game_store_video, after.game_store_video];
    if (had !== '') pairs.push({ game_id, field: 'game_store_video', before: had, after: has, call });
  }
  return pairs;
};

const TEXTS = ['game_name', 'game_info'] as const;

const checkTexts = async (session: Session): Promise<Finding> => {
  const read = (await fetchTwice(session)).flatMap(({ before, after, call }) =>
    before === undefined || after === undefined ? [] : [{ before, after, call }],
  );
  if (read.length === 0) return skipped('see the cases of detail that failed');
  const moved = read.filter(({ before, after }) => TEXTS.some((field) => before[field] !== after[field]));
  const [first] = moved;
  if (first === undefined) return passed;
  const fields = TEXTS.filter((field) => moved.some(({ before, after }) => before[field] !== after[field]));
  const differ = `${fields.join(' and ')} of ${moved.length} of ${read.length} games ${fields.length === 1 ? 'differs' : 'differ'}`;
  const advice = 'Leave out what changes by itself, such as a time or a counter';
  return failed(
    `${differ} between two answers: each detail that is read returns such a game to review. ${advice}`,
    first.call,
  );
};

const RULE =
  'An address stays the same as long as its picture does. What a known service signs and times is no part of it.';

export const addressCases: readonly Case[] = [
  {
    name: 'list.constant-addresses',
    section: null,
    rule: RULE,
    check: async (session) => judgePairs(session, await listPairs(session)),
  },
  {
    name: 'detail.constant-addresses',
    section: null,
    rule: RULE,
    check: async (session) => judgePairs(session, await detailPairs(session)),
  },
  {
    name: 'detail.constant-texts',
    section: null,
    rule: 'A text stays the same as long as its author does not change it.',
    check: checkTexts,
  },
  {
    name: 'detail.lasting-addresses',
    section: null,
    rule: 'An address that ends lasts until the platform has read its game again.',
    check: async (session) => {
      const details = await fetchDetails(session);
      const read = details.flatMap(({ call }) => {
        const detail = detailOf(call);
        return detail === undefined ? [] : [{ call, detail }];
      });
      if (read.length === 0 && details.length > 0) return skipped('see the cases of detail that failed');
      const ends = read.flatMap(({ call, detail }) => {
        const addresses = [...detail.game_icon, ...detail.game_store_pic, detail.game_store_video];
        return addresses.flatMap((address) => {
          const end = addressEnd(address);
          return end === undefined ? [] : [{ call, lastMs: end.getTime() - call.calledAt.getTime() }];
        });
      });
      const [first] = ends.toSorted((a, b) => a.lastMs - b.lastMs);
      const problem = explainShortAddresses(first?.lastMs ?? null, session.target.every_ms);
      return first === undefined || problem === null ? passed : failed(problem, first.call);
    },
  },
  {
    name: 'detail.visible-pictures',
    section: null,
    rule: 'Reviewers see pictures at public https addresses.',
    check: async (session) => {
      const details = await fetchDetails(session);
      const hidden = details.filter(({ call }) => {
        const { game_icon = [], game_store_pic = [] } = detailOf(call) ?? {};
        return ![...game_icon, ...game_store_pic].every(session.mayFetch);
      });
      const [first] = hidden;
      if (first === undefined) return passed;
      const names = nameSome(hidden.map(({ game_id }) => session.quote(game_id)));
      const share = `${hidden.length} of ${details.length} details`;
      const problem = `have pictures that the platform does not fetch, and reviewers do not see (${names})`;
      return failed(`${share} ${problem}: serve them by https, from a public host`, first.call);
    },
  },
];
