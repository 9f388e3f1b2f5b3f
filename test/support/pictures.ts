import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

/** A picture with hills and a sun: no two `seed`s give the same bytes or the same difference hash. */
export const aPicture = (
  seed: number,
  format: 'png' | 'jpeg' | 'webp' | 'avif' | 'gif' = 'png',
  { width = 320, height = 200 } = {},
): Promise<Buffer> => {
  const hue = (seed * 67) % 360;
  const circles = Array.from({ length: 4 }, (_, n) => {
    const [x, y] = [((seed * 37 + n * 91) % 100) / 100, ((seed * 53 + n * 71) % 100) / 100];
    return `<circle cx="${x * width}" cy="${y * height}" r="${height / (3 + n)}" fill="hsl(${(hue + n * 60) % 360} 70% 55%)"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="hsl(${hue} 50% 30%)"/>${circles.join('')}</svg>`;
  return sharp(Buffer.from(svg))
    .toFormat(format, { effort: format === 'avif' ? 0 : 1 })
    .toBuffer();
};

/** What a picture server answers at a path. */
export type Served =
  | { bytes: Buffer; type?: string; etag?: string; status?: number; headers?: Record<string, string> }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export type PictureServer = {
  url: string;
  /** Answers by path; others are 404. */
  files: Map<string, Served>;
  /** Requests so far: path and headers. */
  requests: { path: string; headers: IncomingMessage['headers']; status: number }[];
  close: () => Promise<void>;
};

/** The server of an application's pictures. It answers 304 to an entity tag that it gave. */
export const startPictureServer = async (): Promise<PictureServer> => {
  const files: PictureServer['files'] = new Map();
  const requests: PictureServer['requests'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const served = files.get(path);
    response.on('close', () =>
      requests.push({ path, headers: request.headers, status: response.statusCode }),
    );
    response.on('error', () => {});
    if (typeof served === 'function') return served(request, response);
    if (served === undefined) return response.writeHead(404).end('nothing here');
    const { bytes, type = 'image/png', etag, status = 200, headers = {} } = served;
    const all = { 'content-type': type, ...(etag === undefined ? {} : { etag }), ...headers };
    if (etag !== undefined && request.headers['if-none-match'] === etag)
      return response.writeHead(304, all).end();
    response.writeHead(status, all).end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    requests,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
