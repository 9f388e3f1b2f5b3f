import { gzipSync } from 'node:zlib';
import {
  data,
  detail,
  details,
  every,
  kyc,
  list,
  type Mistake,
  page,
  rename,
  rows,
} from '#test/check/plant-mistakes.ts';

let answers = 0;
const sign = (address: string): string => {
  answers += 1;
  return `${address}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=${answers}&X-Amz-Signature=${answers}`;
};

/** The mistakes that a reader of the guide has planted. */
export const OF_A_READER: readonly Mistake[] = [
  {
    planted: 'a name is a number',
    after: details((game) => Object.assign(game, { game_name: 12 })),
    fails: ['detail.field-types'],
    says: /^game_name must be a string, not a number: 10 of 10 details \(g-0, g-4, g-6, .*…\)$/,
  },
  {
    planted: 'a field is missing',
    after: details((game) => delete game.game_info),
    fails: ['detail.field-types'],
    says: /^game_info is missing: 10 of 10 details \(g-0, g-4, /,
  },
  {
    planted: 'a field is null',
    after: details((game) => Object.assign(game, { game_info: null })),
    fails: ['detail.empty-not-null'],
    says: /^game_info must be a string, not null: 10 of 10 details \(g-0, /,
  },
  {
    planted: 'the icons of a detail are one text',
    after: details((game) => Object.assign(game, { game_icon: game.game_icon[0] })),
    fails: ['detail.field-types'],
    says: /^game_icon must be an array, not a string: 10 of 10 details/,
  },
  {
    planted: 'the icon of a row is a list',
    after: rows((row) => Object.assign(row, { game_icon: [row.game_icon] })),
    fails: ['list.field-types'],
    says: /^game_icon must be a string, not an array: 30 of 30 rows \(g-0, g-1, /,
  },
  {
    planted: 'the list is a failure',
    after: list(({ json }) => Object.assign(json, { ret_code: 1, ret_msg: 'database is busy', data: null })),
    fails: ['list.envelope'],
    says: /^ret_code is 1, ret_msg "database is busy"$/,
  },
  {
    planted: 'pages count from 0',
    games: 130,
    before: ({ operation, body }) => {
      if (operation === 'query_game_list') body.page_num = (body.page_num ?? 1) + 1;
    },
    fails: ['list.page-1'],
    says: /^the application counts pages from 0: page_num 0 has games \(g-0, g-1, .*\) that no page from 1 has$/,
  },
  {
    planted: 'total is wrong',
    games: 130,
    after: data((each) => Object.assign(each, { total: 180 })),
    fails: ['list.total'],
    says: /^total is 180, but the pages have 130 rows$/,
  },
  {
    planted: 'total is that of the page',
    games: 130,
    after: data((each) => Object.assign(each, { total: each.list.length })),
    fails: ['list.total'],
    says: /^total is 2 with page_size 2, and 100 with page_size 100: it is the number of all games, not of the page$/,
  },
  {
    planted: 'total is a text',
    after: data((each) => Object.assign(each, { total: String(each.total) })),
    fails: ['list.shape'],
    says: /^data\.total must be an integer, not a string$/,
  },
  {
    planted: 'gzip is damaged',
    after: list((reply) => {
      const whole = gzipSync(JSON.stringify(reply.json));
      reply.raw = Buffer.concat([whole.subarray(0, 20), Buffer.from('xxxx'), whole.subarray(24)]);
      reply.headers['content-encoding'] = 'gzip';
    }),
    fails: ['list.envelope'],
    says: /^the response is not gzip, as its content-encoding says: it begins with the bytes 1f 8b 08 /,
  },
  {
    planted: 'the list redirects',
    after: list((reply) => Object.assign(reply, { status: 302, headers: { location: '/ok/list' }, raw: '' })),
    fails: ['list.envelope'],
    says: /^HTTP 302 redirects to http:\/\/127\.0\.0\.1:\d+\/ok\/list, and the platform follows no redirect: register the final address$/,
  },
  {
    planted: 'a chunked body never ends',
    callTimeoutMs: 1_000,
    after: list((reply) => Object.assign(reply, { raw: '{"ret_code":0,', hangs: true })),
    fails: ['list.envelope', 'latency'],
    says: /^no whole response within \d+ ms$/,
  },
  {
    planted: 'games are listed twice',
    games: 130,
    after: data((each) => {
      for (const row of each.list) row.game_id = `g-${Number(row.game_id.slice(2)) % 100}`;
    }),
    fails: ['list.distinct'],
    says: /^30 games are listed twice: g-0, g-1, .*…$/,
  },
  {
    planted: 'every answer is slow',
    callTimeoutMs: 100,
    after: every((reply) => Object.assign(reply, { hangs: true })),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^no whole response within \d+ ms$/,
  },
  {
    planted: 'fields are in camelCase',
    after: rows((row) => {
      rename(row, 'game_id', 'gameId');
      rename(row, 'game_name', 'gameName');
      rename(row, 'game_icon', 'gameIcon');
    }),
    fails: ['list.field-types'],
    says: /^game_id is missing, but gameId is there: 30 of 30 rows \(list\.0, list\.1, .*\); game_name is missing, but gameName is there: /,
  },
  {
    planted: 'addresses are relative',
    after: rows((row) => Object.assign(row, { game_icon: '/icons/1.png' })),
    fails: ['list.urls'],
    says: /^game_icon is neither "" nor an http or https URL: 30 of 30 rows \(g-0, /,
  },
  {
    planted: 'an empty list is null',
    after: data((each) => each.list.length === 0 && Object.assign(each, { list: null })),
    fails: ['list.past-the-end'],
    says: /^data\.list is null on page 1000000, and must be an empty array \[\]$/,
  },
  {
    planted: 'there is no envelope',
    after: list((reply) => Object.assign(reply, { json: reply.json.data ?? reply.json })),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: ret_code is missing; ret_msg is missing$/,
  },
  {
    planted: 'a page of a web server in place of JSON',
    after: page('<html>Welcome to nginx</html>'),
    fails: ['list.envelope'],
    says: /^the response is not JSON: it begins with "<html>Welcome to nginx<\/html>"$/,
  },
  {
    planted: '404 for an unknown game',
    after: detail((reply) => {
      if (reply.json.data !== null) return;
      reply.status = 404;
      reply.json = { ret_code: 404, ret_msg: 'no such game', data: null };
    }),
    fails: ['detail.unknown-game'],
    says: /^HTTP 404, ret_code is 404, ret_msg "no such game" for a game that does not exist: send ret_code 0 and data null$/,
  },
  {
    planted: 'the detail of another game',
    after: details((game) => Object.assign(game, { game_id: 'g-0' })),
    fails: ['detail.same-game'],
    says: /^the request is for g-4, and data is the detail of g-0$/,
  },
  {
    planted: 'the same page for ever',
    games: 130,
    before: ({ operation, body }) => {
      if (operation === 'query_game_list') body.page_num = 1;
    },
    fails: ['list.page-2', 'list.past-the-end', 'list.total'],
    says: /^page 2 repeats games of page 1 \(g-0, g-1\): is page_num read from the JSON body\?$/,
  },
  {
    planted: 'no check of the token',
    before: (call) => Object.assign(call, { isRefused: false }),
    fails: ['list', 'detail', 'kyc'].flatMap((each) => [
      `${each}.token-required`,
      `${each}.wrong-token-refused`,
    ]),
    says: /^a call with no token succeeds$/,
  },
  {
    planted: 'an expired token',
    before: (call) => Object.assign(call, { isRefused: true }),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^the token that the operator registered was refused \(HTTP 401, ret_code is 401, ret_msg "token is wrong or expired"\); it was sent as Authorization: Bearer <token>: app update acme --access-token-file registers another$/,
  },
  {
    planted: 'HTTP 500 with a page',
    after: every((reply) => Object.assign(reply, { status: 500, raw: '<html>oops</html>' })),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^HTTP 500, and the response is not JSON: it begins with "<html>oops<\/html>"$/,
  },
  {
    planted: 'a number in the KYC record',
    after: kyc(({ json }) => Object.assign(json.data, { tax_id: 12_345_678 })),
    fails: ['kyc.field-types'],
    says: /^tax_id must be a string, not a number$/,
  },
  {
    planted: 'icons of the list are signed anew',
    after: rows((row) => Object.assign(row, { game_icon: sign(row.game_icon) })),
    fails: ['list.constant-addresses'],
    says: /differs between two answers/,
  },
  {
    planted: 'pictures of the details are signed anew',
    after: details((game) => Object.assign(game, { game_store_pic: game.game_store_pic.map(sign) })),
    fails: ['detail.constant-addresses'],
    says: /differs between two answers/,
  },
];
