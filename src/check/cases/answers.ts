import { type Case, envelopeOf, failed, passed, SHORT, skipped } from '#src/check/case.ts';
import { askFirst, SECTION } from '#src/check/cases/asking.ts';
import type { Call, Credential, Session } from '#src/check/session.ts';
import { RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import { OPERATIONS, type Operation } from '#src/contract/words.ts';
import { CALL_TIMEOUT_MS } from '#src/webhooks/bounds.ts';

const envelopeCase = (operation: Operation): Case => ({
  name: `${SHORT[operation]}.envelope`,
  section: `2.1, ${SECTION[operation]}`,
  rule: 'The answer is a JSON object with ret_code (integer, 0 for success), ret_msg (string) and data.',
  judge: async (session) => {
    const call = await askFirst(session, operation);
    if (!('json' in call.answer)) return failed(`no JSON answer: ${call.answer.message}`, call);
    const envelope = envelopeOf(call);
    if (envelope === undefined) return failed('ret_code is not an integer, or ret_msg not a string', call);
    if (envelope.ret_code !== RET_CODE_SUCCESS) return failed(`ret_code is ${envelope.ret_code}`, call);
    return envelope.data === undefined ? failed('there is no data, not even null', call) : passed;
  },
});

const isSuccess = (call: Call): boolean => envelopeOf(call)?.ret_code === RET_CODE_SUCCESS;

const refusalCase = (operation: Operation, credential: Credential, name: string): Case => ({
  name: `${SHORT[operation]}.${name}`,
  section: '5.1, 5.3',
  rule: 'Every request carries Authorization: Bearer <ACCESS_TOKEN>: one without the right token gets no data.',
  judge: async (session) => {
    const right = await askFirst(session, operation);
    const call = await session.call(operation, right.body, credential);
    if (call.status === undefined) return skipped('no answer came');
    return isSuccess(call) ? failed(`a call with ${credential} was answered like any other`, call) : passed;
  },
});

const retMsgCase: Case = {
  name: 'success.ret-msg',
  section: '2.1',
  rule: 'On success ret_msg is the text success.',
  judge: async (session) => {
    for (const operation of OPERATIONS) {
      const call = await askFirst(session, operation);
      if (isSuccess(call) && envelopeOf(call)?.ret_msg !== RET_MSG_SUCCESS) {
        return failed('ret_msg is another text', call);
      }
    }
    return passed;
  },
};

const refusals = async (session: Session): Promise<Call[]> => {
  const calls: Call[] = [];
  for (const operation of OPERATIONS) {
    const { body } = await askFirst(session, operation);
    const call = await session.call(operation, body, 'wrong token');
    if (call.status !== undefined && !isSuccess(call)) calls.push(call);
  }
  return calls;
};

const errorEnvelopeCase: Case = {
  name: 'errors.envelope',
  section: '7.1, 7.2',
  rule: 'A failure comes in the envelope too: a non-zero ret_code, and a ret_msg with the reason.',
  judge: async (session) => {
    const refused = await refusals(session);
    if (refused.length === 0) return skipped('nothing was refused: see wrong-token-refused');
    for (const call of refused) {
      const envelope = envelopeOf(call);
      if (envelope === undefined) return failed('the refusal is not an envelope', call);
      if (envelope.ret_msg.trim() === '') return failed('ret_msg is empty', call);
    }
    return passed;
  },
};

const COMFORTABLE_MS = 5_000;

const latencyCase: Case = {
  name: 'latency',
  section: null,
  rule: `The platform gives a call up after ${CALL_TIMEOUT_MS / 1_000} s; under load it takes longer than here, so ${COMFORTABLE_MS / 1_000} s is the limit.`,
  judge: async (session) => {
    const [slowest] = [...session.calls()].sort((a, b) => b.latencyMs - a.latencyMs);
    if (slowest === undefined || slowest.latencyMs <= COMFORTABLE_MS) return passed;
    return failed(`the call took ${slowest.latencyMs} ms`, slowest);
  },
};

/** The envelope, the token and errors, of all three webhooks. */
export const answerCases: readonly Case[] = [
  ...OPERATIONS.map(envelopeCase),
  retMsgCase,
  ...OPERATIONS.flatMap((operation) => [
    refusalCase(operation, 'no token', 'token-required'),
    refusalCase(operation, 'wrong token', 'wrong-token-refused'),
  ]),
  errorEnvelopeCase,
];
/** Judges the calls of all other cases: it comes last. */
export const lastCases: readonly Case[] = [latencyCase];
