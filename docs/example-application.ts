// The three webhooks of an application (interface document, group B), a receiver of events, and what a developer writes
// to the reviewers of a game, in one file without dependencies.
// ACCESS_TOKEN=… EVENTS_SECRET=whsec_… PORT=3000 node docs/example-application.ts
// PLATFORM_URL=https://… API_TOKEN=gct_… node docs/example-application.ts message|appeal GAME_ID TEXT
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { json, text } from 'node:stream/consumers';

const { ACCESS_TOKEN = '', EVENTS_SECRET = '', PORT = '3000', GAMES = '250' } = process.env;
const { PLATFORM_URL = 'http://127.0.0.1:8080', API_TOKEN = '' } = process.env;

/** Replace with your database. */
const games = Array.from({ length: Number(GAMES) }, (_, n) => ({
  game_id: `g-${n + 1}`,
  game_name: `Game ${n + 1}`,
  game_icon: [`https://cdn.example/${n + 1}/icon.png`],
  game_info: 'What the game is about. "" if there is no description.',
  game_store_video: '',
  game_store_pic: [`https://cdn.example/${n + 1}/1.png`, `https://cdn.example/${n + 1}/2.png`],
}));

type Request = { page_num?: number; page_size?: number; game_id?: string };

/** Each operation returns `data`; null if there is none. */
const operations: Record<string, (request: Request) => unknown> = {
  // Section 4.4: a page has at most 100 rows. The order must not change while the pages are read.
  '/list': ({ page_num = 1, page_size = 20 }) => ({
    total: games.length,
    list: games
      .slice((page_num - 1) * page_size, (page_num - 1) * page_size + Math.min(page_size, 100))
      .map(({ game_id, game_name, game_icon }) => ({ game_id, game_name, game_icon: game_icon[0] ?? '' })),
  }),
  // Section 4.5: the detail has a list of icons, and its description is game_info.
  '/detail': ({ game_id }) => games.find((game) => game.game_id === game_id) ?? null,
  // Section 4.3: ten strings about your company.
  '/kyc': () => ({
    cp_id: 'cp-1',
    cp_name: 'Example Games Ltd',
    cp_short_name: 'Example',
    legal_entity: 'Ada Example',
    id_type: 'passport',
    id_number: 'X0000001',
    tax_id: 'DE000000001',
    registered_address: '1 Example Street',
    corporate_account: 'DE00 0000 0000 0000 0000 01',
    opening_bank: 'Example Bank',
  }),
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Section 5: the request carries the token that you gave to the platform. The comparison takes constant time. */
const isPlatform = (authorization = ''): boolean =>
  ACCESS_TOKEN !== '' && timingSafeEqual(digest(authorization), digest(`Bearer ${ACCESS_TOKEN}`));

/** Standard Webhooks: did the platform sign these bytes, in the last five minutes? */
const isGenuine = (headers: IncomingHttpHeaders, body: string): boolean => {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers;
  if (EVENTS_SECRET === '' || !(Math.abs(Date.now() / 1_000 - Number(at)) < 300)) return false;
  const key = Buffer.from(EVENTS_SECRET.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest();
  return String(signatures)
    .split(' ')
    .map((each) => Buffer.from(each.replace('v1,', ''), 'base64'))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected));
};

/** Replace with your database. An event may come twice. */
const seen = new Set<string>();
const receive = ({
  event_id,
  type,
  data,
}: {
  event_id: string;
  type: string;
  data: Record<string, unknown>;
}) => {
  if (seen.has(event_id)) return;
  seen.add(event_id);
  const text = data.text ? `: ${data.text}` : '';
  process.stderr.write(`${type} ${data.application_game_id} (${data.game_id})${text}\n`);
};

/** Writes to the reviewers of a game, or appeals its rejection. `game_id` is the platform's: each event has it. */
const write = async (what: string, game_id: string, text: string): Promise<void> => {
  const response = await fetch(new URL(`/open-api/game/${what}`, PLATFORM_URL), {
    method: 'POST',
    headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ game_id, text }),
  });
  const { ret_code, ret_msg } = (await response.json()) as { ret_code: number; ret_msg: string };
  // 40901: nothing to appeal, or too many texts. Another call would change nothing.
  process.stderr.write(`${what} ${ret_code}: ${ret_msg}\n`);
  process.exitCode = ret_code === 0 ? 0 : 1;
};

const server = createServer(async (request, response) => {
  if (request.url === '/events') {
    const body = await text(request);
    const isOurs = isGenuine(request.headers, body);
    response.writeHead(isOurs ? 204 : 401).end();
    if (isOurs) receive(JSON.parse(body));
    return;
  }
  const answer = (status: number, ret_code: number, ret_msg: string, data: unknown = null) =>
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify({ ret_code, ret_msg, data }));
  const operation = operations[request.url ?? ''];
  if (!isPlatform(request.headers.authorization))
    return answer(401, 40101, 'the access token is missing or wrong');
  if (operation === undefined || request.method !== 'POST') return answer(404, 40401, 'no such operation');
  try {
    return answer(200, 0, 'success', operation((await json(request)) as Request));
  } catch {
    return answer(400, 40001, 'the body is not JSON');
  }
});

const [what, game_id = '', ...words] = process.argv.slice(2);
if (what === undefined)
  server.listen(Number(PORT), '127.0.0.1', () => process.stderr.write(`listens on ${PORT}\n`));
else await write(what, game_id, words.join(' '));
