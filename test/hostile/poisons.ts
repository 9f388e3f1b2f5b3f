import { gzipSync } from 'node:zlib';
import { type Answer, goodDetail, goodRow, raw, success } from '#test/support/hostile-application.ts';

const MIB = 1024 * 1024;

/** 256 MiB of spaces in as many bytes as a page of text. */
const bomb = Buffer.concat(Array.from({ length: 16 }, () => gzipSync(Buffer.alloc(16 * MIB, 0x20))));
const urls = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://cdn.example/${index}.png`);
const changed =
  (changes: object) =>
  (game_id: string): Answer => ({ data: { ...goodDetail(game_id), ...changes } });
const always = (answer: Answer) => (): Answer => answer;
const failure = (status: number) =>
  raw(JSON.stringify({ ret_code: 40401, ret_msg: 'gone\u001b[2J', data: null }), status);

const without = (game_id: string, field: string): Answer => {
  const detail: Record<string, unknown> = goodDetail(game_id);
  delete detail[field];
  return { data: detail };
};

/** Details that must not land: how each is answered, and why it is quarantined. */
export const DETAIL_POISONS: Record<string, { answer: (game_id: string) => Answer; why: string }> = {
  'number-name': { answer: changed({ game_name: 7 }), why: 'invalid_data (game_name: invalid_type)' },
  'null-name': { answer: changed({ game_name: null }), why: 'invalid_data (game_name: invalid_type)' },
  nul: { answer: changed({ game_info: 'a\u0000b' }), why: 'invalid_data (game_info: not_storable)' },
  surrogate: { answer: changed({ game_name: '\ud83d' }), why: 'invalid_data (game_name: not_storable)' },
  'long-name': { answer: changed({ game_name: 'x'.repeat(513) }), why: 'invalid_data (game_name: too_long)' },
  'long-info': {
    answer: changed({ game_info: 'x'.repeat(65_537) }),
    why: 'invalid_data (game_info: too_long)',
  },
  'urls-101': {
    answer: changed({ game_store_pic: urls(101) }),
    why: 'invalid_data (game_store_pic: too_big)',
  },
  script: {
    answer: changed({ game_icon: ['javascript:alert(1)'] }),
    why: 'invalid_data (game_icon.0: not_http_url)',
  },
  'one-icon': { answer: changed({ game_icon: urls(1)[0] }), why: 'invalid_data (game_icon: invalid_type)' },
  'file-video': {
    answer: changed({ game_store_video: 'file:///etc/passwd' }),
    why: 'invalid_data (game_store_video: not_http_url)',
  },
  'other-game': { answer: changed({ game_id: 'good-0000' }), why: 'invalid_data (game_id: mismatch)' },
  'missing-field': {
    answer: (id) => without(id, 'game_info'),
    why: 'invalid_data (game_info: invalid_type)',
  },
  proto: {
    answer: (id) => raw(success(null).replace('null', `{"__proto__":${JSON.stringify(goodDetail(id))}}`)),
    why: 'invalid_data (game_id: invalid_type, game_name: invalid_type, game_icon: invalid_type, game_info: invalid_type, game_store_video: invalid_type, game_store_pic: invalid_type)',
  },
  'data-list': { answer: always({ data: [] }), why: 'invalid_data (invalid_type)' },
  html: { answer: always(raw('<html>Welcome</html>')), why: 'not_json (not_json)' },
  'no-content': { answer: always(raw('', 204)), why: 'not_json (empty)' },
  truncated: { answer: (id) => raw(success(goodDetail(id)).slice(0, -9)), why: 'not_json (not_json)' },
  'not-object': { answer: always(raw('[1]')), why: 'not_envelope (invalid_type)' },
  'text-code': {
    answer: always(raw('{"ret_code":"0","ret_msg":"success","data":null}')),
    why: 'not_envelope (ret_code: invalid_type)',
  },
  'not-utf8': {
    answer: (id) => raw(Buffer.from(success(goodDetail(id)).replace('Game', 'G\u00e4me'), 'latin1')),
    why: 'not_utf8 (not_utf8)',
  },
  deep: { answer: always(raw('['.repeat(100_000))), why: 'too_deep (too_deep)' },
  large: { answer: always(raw(Buffer.alloc(MIB + 1, 0x20))), why: 'body_too_large (body_too_large)' },
  bomb: {
    answer: always(raw(bomb, 200, { 'content-encoding': 'gzip' })),
    why: 'body_too_large (body_too_large)',
  },
  'two-layers': {
    answer: (id) =>
      raw(gzipSync(gzipSync(success(goodDetail(id)))), 200, { 'content-encoding': 'gzip, gzip' }),
    why: 'not_decodable (not_decodable)',
  },
  reset: {
    answer: always((response) => response.socket?.resetAndDestroy()),
    why: 'connect_failed (econnreset)',
  },
  'cut-off': {
    answer: always((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{');
      setImmediate(() => response.destroy());
    }),
    why: 'connection_lost (incomplete)',
  },
  redirect: {
    answer: always(raw('', 302, { location: 'http://169.254.169.254/' })),
    why: 'redirect (redirect 302)',
  },
  'code-in-200': { answer: always(failure(200)), why: 'ret_code (ret_code 40401: gone [2J)' },
  'code-in-404': { answer: always(failure(404)), why: 'ret_code (ret_code 40401: gone [2J)' },
  'plain-404': { answer: always(raw('not here', 404)), why: 'http_status (http_status 404)' },
  'plain-500': { answer: always(raw('oh no', 500)), why: 'http_status (http_status 500)' },
};

/** Rows of a list that name a game and break a rule. */
export const NAMED_ROW_POISONS: Record<string, { row: object; why: string }> = {
  'row-number-name': { row: { game_name: 1 }, why: 'game_name: invalid_type' },
  'row-null-name': { row: { game_name: null }, why: 'game_name: invalid_type' },
  'row-nul': { row: { game_name: '\u0000' }, why: 'game_name: not_storable' },
  'row-surrogate': { row: { game_name: '\udc00' }, why: 'game_name: not_storable' },
  'row-long': { row: { game_name: 'n'.repeat(600) }, why: 'game_name: too_long' },
  'row-two-icons': { row: { game_icon: [] }, why: 'game_icon: invalid_type' },
  'row-ftp-icon': { row: { game_icon: 'ftp://cdn.example/i.png' }, why: 'game_icon: not_http_url' },
  'row-no-icon': { row: { game_icon: undefined }, why: 'game_icon: invalid_type' },
};
export const namedRow = (game_id: string) => ({ ...goodRow(game_id), ...NAMED_ROW_POISONS[game_id]?.row });

/** Rows of a list that name no game. */
export const UNNAMED_ROWS: unknown[] = [
  null,
  'a game',
  7,
  [],
  {},
  { ...goodRow('x'), game_id: 12 },
  { ...goodRow('x'), game_id: '' },
  { ...goodRow('x'), game_id: 'a\u0000' },
  { ...goodRow('x'), game_id: 'i'.repeat(513) },
];
