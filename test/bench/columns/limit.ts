// The column "limit": what calls and rows cost with nothing around them. Bare node:http keep-alive calls at the
// same concurrency, JSON.parse, one unnest insert for each hundred games; no queue, no validation.
import { randomUUIDv7 } from 'node:crypto';
import { Agent, request } from 'node:http';
import postgres from 'postgres';
import { answerGo, type Detail } from '#test/bench/columns/reference.ts';

const agent = new Agent({ keepAlive: true });
const HEADERS = { 'content-type': 'application/json; charset=utf-8', authorization: 'Bearer bench-token' };

const call = <Data>(port: number, path: string, body: string): Promise<Data> =>
  new Promise((found, failed) => {
    const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body) };
    const sent = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => found(JSON.parse(Buffer.concat(chunks).toString()).data));
    });
    sent.on('error', failed);
    sent.end(body);
  });

const textArray = (items: readonly string[]): string => `{${items.map((item) => `"${item}"`).join(',')}}`;

answerGo(async ({ databaseUrl, ports, games, concurrency }) => {
  const sql = postgres(databaseUrl, { max: 20 });
  const insert = (application_id: string, batch: readonly Detail[]) => sql`
    insert into reference_games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic)
    select game_id, ${application_id}, application_game_id, game_name, game_icon::text[], game_desc,
           game_store_video, game_store_pic::text[]
    from unnest(
      ${batch.map(() => randomUUIDv7())}::uuid[], ${batch.map((game) => game.game_id)}::text[],
      ${batch.map((game) => game.game_name)}::text[], ${batch.map((game) => textArray(game.game_icon))}::text[],
      ${batch.map((game) => game.game_info)}::text[], ${batch.map((game) => game.game_store_video)}::text[],
      ${batch.map((game) => textArray(game.game_store_pic))}::text[]
    ) as f(game_id, application_game_id, game_name, game_icon, game_desc, game_store_video, game_store_pic)`;
  const ingest = async (port: number, index: number): Promise<void> => {
    for (let page_num = 1; page_num <= games / 100; page_num += 1) {
      const page = JSON.stringify({ page_num, page_size: 100 });
      const { list } = await call<{ list: { game_id: string }[] }>(port, '/list', page);
      const details: Detail[] = [];
      const ids = list.map(({ game_id }) => game_id);
      const lane = async (): Promise<void> => {
        for (let game_id = ids.pop(); game_id !== undefined; game_id = ids.pop()) {
          details.push(await call<Detail>(port, '/detail', JSON.stringify({ game_id })));
        }
      };
      await Promise.all(Array.from({ length: concurrency }, lane));
      await insert(`bench-${index}`, details);
    }
  };
  await Promise.all(ports.map(ingest));
  await sql.end();
  agent.destroy();
});
