import { EXAMPLE_DETAIL } from '#src/contract/application.ts';
import {
  LIST_EVENTS_PATH,
  listEventsRequestSchema,
  listEventsResponseSchema,
  REFRESH_PATH,
  refreshRequestSchema,
  refreshResponseSchema,
} from '#src/contract/events.ts';
import {
  createOpenApiDocument,
  describeOperation,
  type OpenApiDocument,
  successExample,
} from '#src/contract/openapi.ts';
import { CALL_FAILURES, CODE_TABLE, describeFailures } from '#src/contract/openapi-failures.ts';
import {
  LIST_BY_AUDIT_STATUS_PATH,
  listByAuditStatusRequestSchema,
  listByAuditStatusResponseSchema,
  QUERY_DETAIL_PATH,
  queryDetailRequestSchema,
  queryDetailResponseSchema,
} from '#src/contract/platform.ts';
import { APPEAL_PATH, MESSAGE_PATH, writeRequestSchema, writeResponseSchema } from '#src/contract/talk.ts';

const DESCRIPTION = `The operations that the platform offers to applications' servers: list games by audit status, and read one game in full. Call them from a server, never from a client.

Every call carries \`Authorization: Bearer <ACCESS_TOKEN>\` and \`Content-Type: application/json; charset=utf-8\`. Every response is the envelope \`{"ret_code", "ret_msg", "data"}\`. \`ret_code\` 0 is success and \`ret_msg\` is then \`success\`. Any other value is a failure: \`ret_msg\` describes it and \`data\` is null.

An application's token reads the games of that application, an operator's token reads the games of all. A game that a token may not read is answered as if it did not exist. Games that their application no longer lists are not in the catalogue. Times are in the platform's time zone, UTC by default.

Operations under **Additions** are not in the interface document: its five operations keep their shapes.

${CODE_TABLE}`;

const failures = describeFailures(CALL_FAILURES);

const { game_info: game_desc, ...content } = EXAMPLE_DETAIL;
const GAME = { game_id: '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b', game_name: 'Lantern Harbour' };

const listByAuditStatus = describeOperation({
  operationId: 'listByAuditStatus',
  summary: 'List games by audit status',
  description:
    'game.listByAuditStatus: games with one audit status, ordered by game_id, in pages. `data.total` is the number of all games with that status.',
  tag: 'Games',
  request: listByAuditStatusRequestSchema,
  requestExamples: {
    firstPage: {
      summary: 'The first page of games that await review',
      value: { audit_status: 'pending', page_num: 1, page_size: 20 },
    },
    defaults: {
      summary: 'The same, with the defaults of page_num (1) and page_size (20)',
      value: { audit_status: 'pending' },
    },
  },
  success: 'The games of the page.',
  response: listByAuditStatusResponseSchema,
  responseExamples: {
    page: successExample('One game', {
      total: 1,
      list: [{ ...GAME, audit_status: 'passed', audit_time: '2026-03-31 09:05:00' }],
    }),
    none: successExample('No game', { total: 0, list: [] }),
  },
  failures,
});

const queryDetail = describeOperation({
  operationId: 'queryDetail',
  summary: 'Read one game',
  description: 'game.queryDetail: one game in full. `data` is null if there is no game with this `game_id`.',
  tag: 'Games',
  request: queryDetailRequestSchema,
  requestExamples: { game: { summary: 'One game', value: { game_id: GAME.game_id } } },
  success: 'The game, or null.',
  response: queryDetailResponseSchema,
  responseExamples: {
    game: successExample('A game', {
      ...content,
      ...GAME,
      game_desc,
      game_package_url: '',
      audit_status: 'passed',
    }),
    none: successExample('No such game', null),
  },
  failures,
});

const listEvents = describeOperation({
  operationId: 'listEvents',
  summary: 'List decisions on your games',
  description:
    'An addition to the interface document. The events of your application after one of them, in their order. Call it again with `next` as `after`: no event is ever missed. Events are kept for 90 days.',
  tag: 'Additions',
  request: listEventsRequestSchema,
  requestExamples: { first: { summary: 'From the first event', value: { after: '', limit: 100 } } },
  success: 'The next events.',
  response: listEventsResponseSchema,
  responseExamples: {
    page: successExample('A rejected game', {
      list: [
        {
          event_id: '019a2b3d-0000-7f60-8a9b-0c1d2e3f4a5b',
          type: 'game.rejected',
          timestamp: '2026-03-31T09:05:00.123Z',
          data: {
            ...GAME,
            application_game_id: 'g-17',
            audit_status: 'rejected',
            audit_time: '2026-03-31 09:05:00',
            revision: 1,
            why: 'decided',
            reason: 'incomplete',
            reason_label: 'Information is missing or incomplete',
            text: 'The description ends in the middle of a sentence.',
          },
        },
      ],
      next: '019a2b3d-0000-7f60-8a9b-0c1d2e3f4a5b',
    }),
    none: successExample('No event yet', { list: [], next: '' }),
  },
  failures: describeFailures([...CALL_FAILURES, 'goneEvent']),
});

const refresh = describeOperation({
  operationId: 'refreshGames',
  summary: 'Say that games have changed',
  description:
    'An addition to the interface document. The platform pulls these games of your application within seconds, at most at your rate. Repeated requests for a game that waits are one.',
  tag: 'Additions',
  request: refreshRequestSchema,
  requestExamples: {
    games: { summary: 'Two games', value: { game_ids: ['g-17', 'g-18'] } },
    all: { summary: 'The whole list', value: { game_ids: [] } },
  },
  success: 'Accepted.',
  response: refreshResponseSchema,
  responseExamples: { accepted: successExample('Two games', { accepted: 2 }) },
  failures: describeFailures([...CALL_FAILURES, 'tooManyRefreshes']),
});

const ADDITION = 'An addition to the interface document.';
const APPEAL =
  'Another reviewer decides: the event is game.passed with why appeal, or game.appeal_upheld. A rejection is appealed once.';
const MESSAGE =
  'The text is in the thread of the game, which its reviewers read. Their messages are events, game.message. ' +
  'A request that is repeated is stored twice.';
const written = { game_id: GAME.game_id, written_at: '2026-03-31T09:05:00.123Z' };

const message = describeOperation({
  operationId: 'writeMessage',
  summary: 'Write to the reviewers of a game',
  description: `${ADDITION} ${MESSAGE}`,
  tag: 'Additions',
  request: writeRequestSchema,
  requestExamples: {
    answer: {
      summary: 'An answer',
      value: { game_id: GAME.game_id, text: 'The game is rated for 12 and older.' },
    },
  },
  success: 'Stored.',
  response: writeResponseSchema,
  responseExamples: { written: successExample('Stored', written) },
  failures: describeFailures([...CALL_FAILURES, 'notFound', 'conflict']),
});

const appeal = describeOperation({
  operationId: 'appealRejection',
  summary: 'Appeal a rejection',
  description: `${ADDITION} ${APPEAL}`,
  tag: 'Additions',
  request: writeRequestSchema,
  requestExamples: {
    appeal: {
      summary: 'An appeal',
      value: { game_id: GAME.game_id, text: 'The icon is ours: see the register of trade marks, no. 4711.' },
    },
  },
  success: 'The appeal is open.',
  response: writeResponseSchema,
  responseExamples: { written: successExample('Open', written) },
  failures: describeFailures([...CALL_FAILURES, 'notFound', 'conflict']),
});

/** The OpenAPI 3.1 document of the platform-side operations (sections 4.1 and 4.2) and the additions to them. */
export const openapiPlatform = (): OpenApiDocument =>
  createOpenApiDocument({
    title: 'Game Catalogue: platform-side operations',
    description: DESCRIPTION,
    accessToken: 'Created with `catalogue token create`.',
    servers: [{ url: '/' }],
    tags: [
      { name: 'Games', description: 'The catalogue of games.' },
      { name: 'Additions', description: 'Operations that the interface document does not have.' },
    ],
    paths: {
      [LIST_BY_AUDIT_STATUS_PATH]: listByAuditStatus,
      [QUERY_DETAIL_PATH]: queryDetail,
      [LIST_EVENTS_PATH]: listEvents,
      [REFRESH_PATH]: refresh,
      [MESSAGE_PATH]: message,
      [APPEAL_PATH]: appeal,
    },
  });
