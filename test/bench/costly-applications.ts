import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';

const KIB = 1024;
/** Games of an application that lists one page. */
const GAMES = 100;
const row = (game_id: string) => ({ game_id, game_name: 'G', game_icon: '' });
const rows = (count: number) => Array.from({ length: count }, (_, index) => row(`g${index}`));
const success = (data: unknown): string => JSON.stringify({ ret_code: 0, ret_msg: 'success', data });
const ID = '{game_id}';
const detail = {
  game_id: ID,
  game_name: 'G',
  game_icon: [],
  game_info: '',
  game_store_video: '',
  game_store_pic: [],
};

/** Hosts whose letters all differ: the slowest to check. */
const slowUrl = (from: number): string => {
  const letter = (_: unknown, place: number): string =>
    place % 63 === 62 ? '.' : String.fromCodePoint(0x4e00 + from + place);
  return `https://${Array.from({ length: 250 }, letter).join('')}/`;
};
const slowUrls = Array.from({ length: 100 }, (_, index) => slowUrl(index));

/**
 * Details are made ready at the start: an application's own CPU time is not what the bench measures.
 * @param details with `ID` in the place of the game's id
 */
const answerWith = (list: (pageNum: number) => string, details: string, zip = false): RequestListener => {
  const [head = '', tail = ''] = details.split(ID);
  const headBytes = Buffer.from(head);
  const tailBytes = Buffer.from(tail);
  const zipped = new Map(
    zip ? rows(GAMES).map(({ game_id }) => [game_id, gzipSync(head + game_id + tail, { level: 1 })]) : [],
  );
  return async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (body.page_num !== undefined) return response.end(list(body.page_num));
    if (zip) return response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped.get(body.game_id));
    response.write(headBytes);
    response.write(body.game_id);
    response.end(tailBytes);
  };
};
const page = success({ total: 1_000_000, list: rows(GAMES) });
const slowRows = rows(1_000).map((each, index) => ({ ...each, game_icon: slowUrl(index) }));

const slowPage = success({ total: 1_000_000, list: slowRows });

/** Applications that answer within every cap of a call, at a cost: CPU time, memory, bytes, rows. */
export const COSTLY: readonly RequestListener[] = [
  answerWith(() => slowPage, success(null)),
  answerWith(() => page, success({ ...detail, game_icon: slowUrls, game_store_pic: slowUrls })),
  answerWith(
    () => page,
    success({ ...detail, game_info: '\u{1f3ae}'.repeat(60_000), extra: 'x'.repeat(700 * KIB) }),
  ),
  answerWith(() => page, success({ ...detail, extra: ' '.repeat(1_000 * KIB) }), true),
  answerWith(
    (pageNum) =>
      success({
        total: 1_000_000,
        list: rows(1_000).map((_, index) => ({ game_id: `p${pageNum}-${index}` })),
      }),
    success(null),
  ),
];
