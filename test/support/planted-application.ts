import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import type { Json } from '#test/support/checked-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

export type PlantedCall = { operation: string; body: Json; isRefused: boolean };
/**
 * `raw` is sent in place of `json`; `hangs` sends nothing, or what `raw` has, and never ends; `cuts` then closes; `drops`
 * closes.
 */
export type PlantedReply = {
  status: number;
  headers: Record<string, string>;
  json: Json;
  raw?: string | Buffer;
  hangs?: boolean;
  cuts?: boolean;
  drops?: boolean;
};
/** What an application does wrong: to a call before it is answered, or to its answer. */
export type Planted = {
  games?: number;
  /** Serves one connection after another. */
  isSingle?: boolean;
  /** Refuses a detail while it looks up another one. */
  isBusy?: boolean;
  before?: (call: PlantedCall) => void;
  after?: (reply: PlantedReply, call: PlantedCall) => void;
};

const KYC_FIELDS =
  'cp_id cp_name cp_short_name legal_entity id_type id_number tax_id registered_address corporate_account opening_bank';

const ok = (data: Json) => ({ ret_code: 0, ret_msg: 'success', data });
const no = (ret_code: number, ret_msg: string) => ({ ret_code, ret_msg, data: null });

/** What the three webhooks answer if nothing is wrong. */
const answer = ({ operation, body, isRefused }: PlantedCall, games: number): PlantedReply => {
  const reply = (json: Json, status = 200): PlantedReply => ({ status, headers: {}, json });
  if (isRefused) return reply(no(401, 'token is wrong or expired'), 401);
  if (operation === 'query_cp_kyc')
    return reply(ok(Object.fromEntries(KYC_FIELDS.split(' ').map((field) => [field, `Secret ${field}`]))));
  if (operation === 'query_game_detail') {
    const number = Number(/^g-(\d+)$/.exec(body.game_id)?.[1] ?? Number.NaN);
    if (!(number < games)) return reply(ok(null));
    const at = `https://cdn.example/${number}`;
    return reply(
      ok({
        game_id: body.game_id,
        game_name: `Game ${number}`,
        game_icon: [`${at}/icon.png`],
        game_info: 'What it is',
        game_store_video: '',
        game_store_pic: [`${at}/1.png`, `${at}/2.png`],
      }),
    );
  }
  const { page_num = 1, page_size = 20 } = body;
  if (page_size > 100) return reply(no(2, 'page_size is at most 100'));
  const all = Array.from({ length: games }, (_, number) => ({
    game_id: `g-${number}`,
    game_name: `Game ${number}`,
    game_icon: `https://cdn.example/${number}/icon.png`,
  }));
  return reply(ok({ total: games, list: all.slice((page_num - 1) * page_size, page_num * page_size) }));
};

const send = (
  { status, headers, json, raw, hangs, cuts, drops }: PlantedReply,
  response: ServerResponse,
): void => {
  if (drops === true) return void response.destroy();
  response.writeHead(status, headers);
  if (hangs !== true) response.end(raw ?? JSON.stringify(json));
  else if (raw !== undefined) response.write(raw, () => cuts === true && response.destroy());
};

/** An application with a mistake. It is closed with its test. */
export const startPlanted = async ({
  games = 30,
  isSingle,
  isBusy,
  before,
  after,
}: Planted): Promise<RawServer> => {
  let served: Socket | undefined;
  let looksUp = false;
  const server = await startRawServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (isSingle) {
      while (served !== undefined && served !== request.socket) await once(served, 'close');
      if (request.socket.destroyed) return;
      if (served === undefined) request.socket.once('close', () => (served = undefined));
      served = request.socket;
    }
    const operation = request.url?.split('/').at(-1) ?? '';
    const call = { operation, body, isRefused: request.headers.authorization !== `Bearer ${TOKEN}` };
    before?.(call);
    const reply = answer(call, games);
    after?.(reply, call);
    if (isBusy && operation === 'query_game_detail' && !call.isRefused) {
      if (looksUp) reply.json = no(9, 'busy');
      else {
        looksUp = true;
        await sleep(20);
        looksUp = false;
      }
    }
    send(reply, response);
  });
  onTestFinished(server.close);
  return server;
};
