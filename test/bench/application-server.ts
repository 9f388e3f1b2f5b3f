// The servers of many applications in a process of their own: bare node:http, answers put together from
// prepared text, so that they are not what is measured. The first message says how many of what; one server a
// port, as applications have.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKycRecord } from '#src/sample-application/kyc.ts';
import { endWithParent } from '#test/bench/processes.ts';

/** `host`: where the servers listen; 127.0.0.1 by default. */
export type ApplicationsRequest = { applications: number; games: number; latencyMs: number; host?: string };
export type Calls = { query_game_list: number; query_game_detail: number; query_cp_kyc: number };

const PICTURE = 'https://cdn.example.com/pictures/0123456789abcdef';
const DESCRIPTION =
  'Restore the lighthouses of a drowned coast, one storm at a time. Every light you relight opens a stretch of sea, brings a ferry back, and shows you what the last keeper wrote down. '.repeat(
    2,
  );
const rest = (index: string): string =>
  `","game_name":"The Lightkeeper ${index}","game_icon":["${PICTURE}/${index}/icon.png"],` +
  `"game_info":"${DESCRIPTION}","game_store_video":"${PICTURE}/${index}/trailer.mp4",` +
  `"game_store_pic":["${PICTURE}/${index}/1.png","${PICTURE}/${index}/2.png","${PICTURE}/${index}/3.png"]}}`;

const detailOf = (body: string): string => {
  const id = body.slice(body.indexOf('"', 10) + 1, body.lastIndexOf('"'));
  return `{"ret_code":0,"ret_msg":"success","data":{"game_id":"${id}${rest(id.slice(2))}`;
};

const pageOf = (body: string, games: number): string => {
  const { page_num, page_size } = JSON.parse(body) as { page_num: number; page_size: number };
  const from = (page_num - 1) * page_size;
  const count = Math.max(Math.min(page_size, games - from), 0);
  const list = Array.from({ length: count }, (_, index) => {
    const place = from + index + 1;
    return `{"game_id":"g-${place}","game_name":"The Lightkeeper ${place}","game_icon":"${PICTURE}/${place}/icon.png"}`;
  });
  return `{"ret_code":0,"ret_msg":"success","data":{"total":${games},"list":[${list.join(',')}]}}`;
};

/** The same record at each pull. */
const kycOf = (port: number): string =>
  JSON.stringify({ ret_code: 0, ret_msg: 'success', data: generateKycRecord(`bench ${port}`) });

const listen = async (
  { games, latencyMs, host = '127.0.0.1' }: ApplicationsRequest,
  count: (operation: keyof Calls) => void,
): Promise<number> => {
  let kyc = '';
  const answers: Record<string, [keyof Calls, (body: string) => string]> = {
    '/list': ['query_game_list', (body) => pageOf(body, games)],
    '/kyc': ['query_cp_kyc', () => kyc],
  };
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const [operation, textOf] = answers[request.url ?? ''] ?? (['query_game_detail', detailOf] as const);
    count(operation);
    const text = textOf(body);
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1');
    });
    request.on('end', () => {
      if (latencyMs === 0) answer(request, response, body);
      else setTimeout(answer, latencyMs, request, response, body);
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  kyc = kycOf(port);
  return port;
};

endWithParent();
const calls: Calls = { query_game_list: 0, query_game_detail: 0, query_cp_kyc: 0 };
process.on('message', async (message: { serve?: ApplicationsRequest } | 'calls') => {
  if (message === 'calls') process.send?.({ calls });
  else if (message.serve !== undefined) {
    const wanted = message.serve;
    const count = (operation: keyof Calls): void => {
      calls[operation] += 1;
    };
    const ports = await Promise.all(Array.from({ length: wanted.applications }, () => listen(wanted, count)));
    process.send?.({ ports });
  }
});
