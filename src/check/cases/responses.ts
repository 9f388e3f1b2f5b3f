import {
  type Case,
  dataOf,
  type Finding,
  failed,
  isSuccess,
  PREFIXES,
  passed,
  skipped,
} from '#src/check/case.ts';
import { callFirst, fetchDetails } from '#src/check/cases/queries.ts';
import { at, envelopeOf, refusesToken, whyNoData } from '#src/check/explain.ts';
import type { Call, Credential, Session } from '#src/check/session.ts';
import { RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import { OPERATIONS, type Operation } from '#src/contract/words.ts';
import { CALL_TIMEOUT_MS } from '#src/rules/budgets.ts';

const envelopeCase = (operation: Operation): Case => ({
  name: `${PREFIXES[operation]}.envelope`,
  section: '4',
  quote: 'Every response is a JSON object with the envelope of section 2.1.',
  rule: 'The response is a success: ret_code 0, ret_msg and data.',
  check: async (session) => {
    const call = await callFirst(session, operation);
    const problem = whyNoData(call);
    if (problem === undefined) return passed;
    if (!refusesToken(call)) return failed(problem, call);
    const sent = 'it was sent as Authorization: Bearer <token>';
    const command = `app update ${session.target.application_id} --access-token-file`;
    return failed(
      `the token that the operator registered was refused (${problem}); ${sent}: ${command} registers another`,
      call,
    );
  },
});

/** Lists the non-empty strings of a value, at any depth. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** Does a refusal contain a text of the application's data? A text of the request does not count. */
const containsDataOf = (refused: Call, accepted: Call): boolean => {
  const data = 'json' in refused.response ? at(refused.response.json, ['data']) : null;
  const texts = new Set(textsIn(envelopeOf(accepted)?.data)).difference(new Set(textsIn(accepted.body)));
  return textsIn(data).some((text) => texts.has(text));
};

const tokenCase = (operation: Operation, credential: Credential, name: string): Case => ({
  name: `${PREFIXES[operation]}.${name}`,
  section: '5.1',
  quote: 'Every request of all five operations carries the header Authorization: Bearer <ACCESS_TOKEN>.',
  rule: 'A request without the right token gets no data.',
  check: async (session) => {
    const accepted = await callFirst(session, operation);
    // If the call with the right token fails, too, a refusal proves nothing: `dataOf` skips the case then.
    dataOf(accepted, `${PREFIXES[operation]}.envelope`);
    const call = await session.call(operation, accepted.body, credential);
    if (call.status === undefined) return skipped('there is no response');
    if (isSuccess(call)) return failed(`a call with ${credential} succeeds`, call);
    const hasData = containsDataOf(call, accepted);
    return hasData ? failed(`a call with ${credential} is refused, but returns data`, call) : passed;
  },
});

const retMsgCase: Case = {
  name: 'success.ret-msg',
  section: '2.1',
  quote: 'On success it is the text success.',
  rule: 'ret_msg of a success is the text success.',
  check: async (session) => {
    const calls: Call[] = [];
    for (const operation of OPERATIONS) calls.push(await callFirst(session, operation));
    const successes = calls.filter(isSuccess);
    if (successes.length === 0) return skipped('no call succeeds');
    const wrong = successes.find((call) => envelopeOf(call)?.ret_msg !== RET_MSG_SUCCESS);
    return wrong === undefined ? passed : failed('ret_msg of a success is not success', wrong);
  },
};

const callsRefused = async (session: Session): Promise<Call[]> => {
  const calls: Call[] = [];
  for (const operation of OPERATIONS) {
    const accepted = await callFirst(session, operation);
    // The refusal of a webhook that accepts no token proves nothing.
    if (!isSuccess(accepted)) continue;
    const call = await session.call(operation, accepted.body, 'a wrong token');
    if (call.status !== undefined && !isSuccess(call)) calls.push(call);
  }
  return calls;
};

const errorEnvelopeCase: Case = {
  name: 'errors.envelope',
  section: '7.2',
  quote: 'ret_msg then holds a specific failure reason.',
  rule: 'A failure has an envelope too, and its ret_msg the reason.',
  check: async (session) => {
    const refused = await callsRefused(session);
    if (refused.length === 0) return skipped('no call was refused');
    for (const call of refused) {
      const envelope = envelopeOf(call);
      const { response, status } = call;
      if ('code' in response && response.code === 'redirect')
        return failed(`the refusal of a wrong token is a redirect: HTTP ${status} ${response.details}`, call);
      if (envelope === undefined) return failed(`the refusal of a wrong token: ${whyNoData(call)}`, call);
      if (envelope.ret_msg.trim() === '')
        return failed('the refusal of a wrong token has an empty ret_msg', call);
    }
    return passed;
  },
};

const COMFORTABLE_MS = 5_000;

const isTimeout = (response: Call['response']): boolean => 'code' in response && response.code === 'timeout';

const latencyCase: Case = {
  name: 'latency',
  section: null,
  rule: `The platform ends a call after ${CALL_TIMEOUT_MS / 1_000} s. Under load calls take longer, so the limit here is ${COMFORTABLE_MS / 1_000} s.`,
  check: async (session) => {
    const timed = session
      .calls()
      .filter(({ status, response }) => status !== undefined || isTimeout(response));
    const [slowest] = timed.sort((a, b) => b.latencyMs - a.latencyMs);
    if (slowest === undefined || timed.every(({ status }) => status === undefined))
      return skipped('there is no response');
    if ('message' in slowest.response && isTimeout(slowest.response))
      return failed(slowest.response.message, slowest);
    if (slowest.latencyMs <= COMFORTABLE_MS) return passed;
    return failed(`the call took ${slowest.latencyMs} ms`, slowest);
  },
};

/** Does the response request a later retry? */
const isToRetry = ({ status }: Call): boolean => status === 429 || status === 503;

/** Most calls that are open at once: enough to find a server that serves one connection after another. */
const AT_ONCE_MAX = 8;

const atOnceCase: Case = {
  name: 'detail.at-once',
  section: null,
  rule: 'The platform requests several details at once, each on a connection of its own.',
  check: async (session) => {
    const count = Math.min(AT_ONCE_MAX, session.target.concurrency);
    if (count === 1) return skipped('the concurrency of this application is 1');
    const details = await fetchDetails(session);
    for (const { call } of details) dataOf(call, 'detail.envelope and detail.listed-game');
    const bodies = Array.from({ length: count }, (_, n) => details[n % details.length]?.call.body ?? {});
    const calls = await session.callAtOnce('query_game_detail', bodies);
    const act = 'serve connections beside each other, or have the operator set --concurrency 1';
    const say = ([first, ...others]: readonly Call[], what: string, alone: string): Finding | undefined =>
      first &&
      failed(
        `${others.length + 1} of ${count} calls at once ${what} (${whyNoData(first)}), ${alone}: ${act}`,
        first,
      );
    const silent = calls.filter(({ status }) => status === undefined);
    const refused = calls.filter((call) => !isSuccess(call) && !isToRetry(call));
    return (
      say(silent, 'had no answer', 'and each has one alone') ??
      say(refused, 'failed', 'and each succeeds alone') ??
      passed
    );
  },
};

/** Envelope, token and errors of all three webhooks. */
export const responseCases: readonly Case[] = [
  ...OPERATIONS.map(envelopeCase),
  retMsgCase,
  ...OPERATIONS.flatMap((operation) => [
    tokenCase(operation, 'no token', 'token-required'),
    tokenCase(operation, 'a wrong token', 'wrong-token-refused'),
  ]),
  errorEnvelopeCase,
];
/** The cases that run last. The first of them compares the calls of all cases before it. */
export const lastCases: readonly Case[] = [latencyCase, atOnceCase];
