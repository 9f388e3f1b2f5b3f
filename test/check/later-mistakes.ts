import { gzipSync } from 'node:zlib';
import { data, details, every, list, type Mistake, rows } from '#test/check/plant-mistakes.ts';

/** Mistakes that a second reader has planted, and a third, in servers of Python. */
export const OF_A_SECOND_READER: readonly Mistake[] = [
  {
    planted: 'Content-Type is compared with application/json alone',
    after: every((reply) => {
      reply.status = 415;
      reply.json = { ret_code: 415, ret_msg: 'unsupported media type', data: null };
    }),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^HTTP 415, ret_code is 415, ret_msg "unsupported media type"; the platform sends Content-Type: application\/json; charset=utf-8$/,
  },
  {
    planted: 'ret_code is a text',
    after: list(({ json }) => Object.assign(json, { ret_code: '0' })),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: ret_code must be an integer, not a string$/,
  },
  {
    planted: 'the body is encoded twice',
    after: list((reply) => Object.assign(reply, { json: JSON.stringify(reply.json) })),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: it must be an object, not a string that holds JSON$/,
  },
  {
    planted: 'no picture is an empty text in the list',
    after: details((game) => Object.assign(game, { game_store_pic: [''] })),
    fails: ['detail.urls'],
    says: /^an element of game_store_pic is not a valid http or https URL: 10 of 10 details \(g-0, /,
  },
  {
    planted: 'an unknown game is a failure',
    after: (reply, { operation }) => {
      if (operation !== 'query_game_detail' || reply.json.data !== null || reply.json.ret_code !== 0) return;
      reply.json = { ret_code: 1_004, ret_msg: 'game not found', data: null };
    },
    fails: ['detail.unknown-game'],
    says: /^ret_code is 1004, ret_msg "game not found" for a game that does not exist: send ret_code 0 and data null$/,
  },
  {
    planted: 'an unknown game is HTTP 204',
    after: (reply, { operation }) => {
      if (operation === 'query_game_detail' && reply.json.ret_code === 0 && reply.json.data === null)
        Object.assign(reply, { status: 204, raw: '' });
    },
    fails: ['detail.unknown-game'],
    says: /^HTTP 204, and the response is not JSON: it is empty for a game that does not exist: send ret_code 0 and data null$/,
  },
  {
    planted: 'a cache before the application answers 304',
    after: list((reply) => Object.assign(reply, { status: 304, raw: '' })),
    fails: ['list.envelope'],
    says: /^HTTP 304, and the response is not JSON: it is empty$/,
  },
  {
    planted: 'data is null past the end',
    after: list(({ json }) => {
      if (json.data?.list.length === 0) json.data = null;
    }),
    fails: ['list.past-the-end'],
    says: /^data\.list is missing on page 1000000, and must be an empty array \[\]$/,
  },
  {
    planted: 'an application and its proxy compress the response',
    after: list((reply) => {
      reply.raw = gzipSync(gzipSync(JSON.stringify(reply.json)));
      reply.headers['content-encoding'] = 'gzip';
    }),
    fails: ['list.envelope'],
    says: /^the response is not UTF-8: it was compressed twice, by the application and by a proxy before it$/,
  },
  {
    planted: 'a listed game has no detail',
    before: (call) => {
      if (call.operation === 'query_game_detail' && call.body.game_id === 'g-4') call.body.game_id = 'gone';
    },
    fails: ['detail.listed-game'],
    says: /^g-4 is listed, and its data is null$/,
  },
  {
    planted: 'ids of the list end with a space',
    after: rows((row) => Object.assign(row, { game_id: `${row.game_id} ` })),
    fails: ['detail.listed-game'],
    says: /^"g-0 " is listed, and its data is null$/,
  },
  {
    planted: 'a call without the token is sent to a page that signs in',
    after: (reply, { isRefused }) => {
      if (isRefused) Object.assign(reply, { status: 302, headers: { location: '/login' }, raw: '' });
    },
    fails: ['errors.envelope'],
    says: /^the refusal of a wrong token is a redirect: HTTP 302 redirects to http:\/\/127\.0\.0\.1:\d+\/login$/,
  },
  {
    planted: 'content-length is too large',
    callTimeoutMs: 1_000,
    after: list((reply) => {
      reply.raw = JSON.stringify(reply.json);
      reply.headers['content-length'] = String(reply.raw.length + 100);
      reply.hangs = true;
    }),
    fails: ['list.envelope', 'latency'],
    says: /^no whole response \(\d+ of the \d+ bytes that content-length says\) within \d+ ms$/,
  },
  {
    planted: 'an advertisement is on every page',
    games: 130,
    after: data((each) => each.list.push({ game_id: 'ad', game_name: 'Ad', game_icon: '' })),
    fails: ['list.page-size', 'list.past-the-end', 'list.total', 'list.distinct'],
    says: /^page_size 2 returns 3 rows instead of 2: /,
  },
  {
    planted: 'total is always 0',
    after: data((each) => Object.assign(each, { total: 0 })),
    fails: ['list.total'],
    says: /^total is 0, but the pages have 30 rows/,
  },
  {
    planted: 'an unknown game ends the thread of the request',
    after: (reply, { operation }) => {
      if (operation === 'query_game_detail' && reply.json.data === null) reply.drops = true;
    },
    fails: ['detail.unknown-game'],
    says: /^the connection closed before a response .*for a game that does not exist: send ret_code 0 and data null$/,
  },
  {
    planted: 'one name is not UTF-8',
    after: list((reply) => {
      const json = { ...reply.json, ret_msg: 'success', about: 'a \ufffd, K\u00e4fer' };
      reply.raw = Buffer.from(JSON.stringify(json).replace('K\u00e4', 'K\x00')).map(
        (byte) => byte || 0xe4,
      ) as Buffer;
    }),
    fails: ['list.envelope'],
    says: /^the response is not UTF-8: the byte e4 is no part of it; before it is ".*"about":"a \ufffd, K"$/,
  },
  {
    planted: 'the server serves one connection after another',
    isSingle: true,
    callTimeoutMs: 1_000,
    fails: ['detail.at-once'],
    says: /^7 of 8 calls at once had no answer \(no whole response within 1000 ms\), and each has one alone: /,
  },
  {
    planted: 'details that are requested at once are refused',
    isBusy: true,
    fails: ['detail.at-once'],
    says: /^[1-7] of 8 calls at once failed \(ret_code is 9, ret_msg "busy"\), and each succeeds alone: serve /,
  },
  {
    planted: 'a gateway sends its own object, with the envelope as a text',
    after: list((reply) =>
      Object.assign(reply, { json: { statusCode: 200, body: JSON.stringify(reply.json, null, 2) } }),
    ),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: ret_code is missing; ret_msg is missing; body has them: send no object around them$/,
  },
  {
    planted: 'an object is around the envelope',
    after: list((reply) => Object.assign(reply, { json: { result: reply.json } })),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: ret_code is missing; ret_msg is missing; result has them: send no object around them$/,
  },
  {
    planted: 'Content-Length is larger than the body',
    after: list((reply) =>
      Object.assign(reply, {
        hangs: true,
        cuts: true,
        headers: { 'content-length': '999' },
        raw: '{"ret_code": 0',
      }),
    ),
    fails: ['list.envelope'],
    says: /^the connection closed in the response, .* is Content-Length the number of bytes that are sent\?$/,
  },
  {
    planted: 'pictures are at a private address',
    after: details((game) => Object.assign(game, { game_icon: ['http://10.1.2.3/1.png'] })),
    fails: ['detail.visible-pictures'],
    says: /^10 of 10 details have pictures that the platform does not fetch, .* \(g-0, .*\): serve them by https, from a public host$/,
  },
  {
    planted: 'a row of the second page has an id that cannot be stored, and another one none',
    games: 130,
    after: rows((row) => {
      if (row.game_id === 'g-104') row.game_id = 'g\u0000';
      if (row.game_id === 'g-107') row.game_id = '';
    }),
    fails: ['list.limits'],
    says: /^game_id contains U\+0000 .*: 1 of 130 rows \(.*\); game_id .*empty.*: 1 of 130 rows \(list\.7 \(page 2\)\)$/,
  },
  {
    planted: 'the details of games beyond the first page have no description',
    games: 130,
    after: details((game) => {
      if (Number(game.game_id.slice(2)) > 99) game.game_info = null;
    }),
    fails: ['detail.empty-not-null'],
    says: /^game_info must be a string, not null: 2 of 10 details \(g-1\d\d, g-1\d\d\)$/,
  },
];
