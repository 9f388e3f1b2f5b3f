import { gzipSync } from 'node:zlib';
import type { Json } from '#test/support/checked-application.ts';
import type { Planted, PlantedCall, PlantedReply } from '#test/support/planted-application.ts';

export type Mistake = Planted & {
  planted: string;
  /** The cases that must fail, and no other. The first one says what the mistake is. */
  fails: readonly string[];
  says: RegExp;
  /** The deadline of a call, where the mistake is that none is answered in time. */
  callTimeoutMs?: number;
};

type Change = (reply: PlantedReply, call: PlantedCall) => void;
const inReply =
  (operation: string) =>
  (change: Change): Change =>
  (reply, call) => {
    if (call.operation === operation && !call.isRefused) change(reply, call);
  };
export const list = inReply('query_game_list');
const detail = inReply('query_game_detail');
export const kyc = inReply('query_cp_kyc');
export const every =
  (change: Change): Change =>
  (reply, call) => {
    if (!call.isRefused) change(reply, call);
  };
export const rows = (change: (row: Json) => void): Change =>
  list(({ json }) => {
    for (const row of json.data?.list ?? []) change(row);
  });
export const details = (change: (data: Json) => void): Change =>
  detail(({ json }) => {
    if (json.data !== null) change(json.data);
  });
export const data = (change: (data: Json, call: PlantedCall) => void): Change =>
  list(({ json }, call) => {
    if (json.data !== null) change(json.data, call);
  });
const rename = (object: Json, from: string, to: string): void => {
  object[to] = object[from];
  delete object[from];
};

let answers = 0;
const sign = (address: string): string => {
  answers += 1;
  return `${address}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=${answers}&X-Amz-Signature=${answers}`;
};

const page = (text: string, status = 200): Change =>
  list((reply) => Object.assign(reply, { status, raw: text }));

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

const CUT =
  'the response is not JSON: it ends before the JSON does: ' +
  'content-length is the number of bytes, not of characters';

const GBK = Buffer.from([0x7b, 0x22, 0xd6, 0xd0, 0xce, 0xc4, 0x22, 0x7d]);

/** Mistakes that frameworks and proxies make easy. */
export const OF_FRAMEWORKS: readonly Mistake[] = [
  {
    planted: 'ids are integers',
    after: rows((row) => Object.assign(row, { game_id: Number(row.game_id.slice(2)) })),
    fails: ['list.field-types'],
    says: /^game_id must be a string, not a number: 30 of 30 rows \(list\.0, list\.1, /,
  },
  {
    planted: 'success is 200',
    after: every(({ json }) => Object.assign(json, { ret_code: 200, ret_msg: 'OK' })),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^ret_code is 200, ret_msg "OK", and data has content: a success has ret_code 0$/,
  },
  {
    planted: 'data is JSON as a text',
    after: list(({ json }) => Object.assign(json, { data: JSON.stringify(json.data) })),
    fails: ['list.shape'],
    says: /^data must be an object, not a string that holds JSON$/,
  },
  {
    planted: 'a warning of PHP before the JSON, compressed',
    after: list((reply) => {
      reply.raw = gzipSync(`<br />\n<b>Warning</b>: division by zero\n${JSON.stringify(reply.json)}`);
      reply.headers['content-encoding'] = 'gzip';
    }),
    fails: ['list.envelope'],
    says: /^the response is not JSON: it begins with "<br \/> <b>Warning<\/b>: division by zero \{.*…"$/,
  },
  {
    planted: 'the body is GBK',
    after: list((reply) => Object.assign(reply, { raw: GBK })),
    fails: ['list.envelope'],
    says: /^the response is not UTF-8: it begins with the bytes 7b 22 d6 d0 ce c4 22 7d$/,
  },
  {
    planted: 'only GET is routed',
    after: page('<h1>Method Not Allowed</h1>', 405),
    fails: ['list.envelope'],
    says: /^HTTP 405, and the response is not JSON: it begins with "<h1>Method Not Allowed<\/h1>"; the platform calls with POST$/,
  },
  {
    planted: 'a proxy refuses the token',
    after: every((reply) => Object.assign(reply, { status: 403, raw: '<h1>403 Forbidden</h1>' })),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^the token that the operator registered was refused \(HTTP 403, and the response is not JSON: it begins with "<h1>403 Forbidden<\/h1>"\); it was sent as Authorization: Bearer <token>: app update acme --access-token-file registers another$/,
  },
  {
    planted: 'the last page again past the end',
    before: ({ operation, body }) => {
      if (operation !== 'query_game_list') return;
      const { page_num = 1, page_size = 20 } = body;
      body.page_num = Math.min(page_num, Math.ceil(30 / page_size));
    },
    fails: ['list.past-the-end'],
    says: /^data\.list has 30 rows on page 1000000, and must be an empty array \[\]$/,
  },
  {
    planted: 'an unknown game is an empty object, and page_size is ignored',
    games: 10,
    before: ({ operation, body }) => {
      if (operation === 'query_game_list') body.page_size = 100;
    },
    after: detail(({ json }) => {
      json.data ??= {};
    }),
    fails: ['list.page-size', 'detail.unknown-game'],
    says: /^page_size 2 returns 10 rows instead of 2: is page_size read from the JSON body\?$/,
  },
  {
    planted: 'game_desc in place of game_info',
    after: details((game) => rename(game, 'game_info', 'game_desc')),
    fails: ['detail.field-types'],
    says: /^game_info is missing, but game_desc is there: 10 of 10 details/,
  },
  {
    planted: 'content-length counts characters',
    after: list((reply) => {
      const whole = Buffer.from(JSON.stringify(reply.json).replaceAll('Game', 'Größe'));
      reply.raw = whole.subarray(0, whole.toString().length);
    }),
    fails: ['list.envelope'],
    says: new RegExp(`^${CUT}; it begins with "\\{`),
  },
  {
    planted: 'a KYC record is cut',
    after: kyc((reply) => Object.assign(reply, { raw: JSON.stringify(reply.json).slice(0, -9) })),
    fails: ['kyc.envelope'],
    says: new RegExp(`^${CUT}$`),
  },
  {
    planted: 'a number that JSON does not have',
    after: list((reply) =>
      Object.assign(reply, { raw: JSON.stringify(reply.json).replace('"total":30', '"total":NaN') }),
    ),
    fails: ['list.envelope'],
    says: /^the response is not JSON: Unexpected token 'N', .*"total":NaN,.* is not valid JSON; it begins with "/,
  },
  {
    planted: 'gzip without its header',
    after: every((reply) => Object.assign(reply, { raw: gzipSync(JSON.stringify(reply.json)) })),
    fails: ['list.envelope', 'detail.envelope', 'kyc.envelope'],
    says: /^the response is not UTF-8: this is gzip, and the header content-encoding: gzip is missing$/,
  },
  {
    planted: 'a detail is in a list',
    after: detail(({ json }) => {
      if (json.data !== null) json.data = [json.data];
    }),
    fails: ['detail.field-types'],
    says: /^data must be an object, not an array: 10 of 10 details \(g-0, /,
  },
  {
    planted: 'the order changes from call to call',
    games: 130,
    after: data(({ list: page }) => {
      answers += 1;
      page.push(...page.splice(0, answers % 20));
    }),
    fails: ['list.defaults'],
    says: /^a request of \{\} returns other games than page 1: the order of the list changes from call to call$/,
  },
  {
    planted: 'the addresses of list and detail are exchanged',
    before: (call) => {
      if (call.operation !== 'query_cp_kyc')
        call.operation = call.operation === 'query_game_list' ? 'query_game_detail' : 'query_game_list';
    },
    fails: ['list.shape', 'detail.unknown-game'],
    says: /^data must be an object, not null$/,
  },
];
