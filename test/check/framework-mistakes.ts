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
    planted: 'an envelope of other names',
    after: list(({ json }) => {
      rename(json, 'ret_code', 'code');
      rename(json, 'ret_msg', 'msg');
    }),
    fails: ['list.envelope'],
    says: /^the response is not an envelope: ret_code is missing, but code is there; ret_msg is missing, but msg is there$/,
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
