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

/** An animated WebP with this number of frames of one pixel. libvips takes time quadratic in their number. */
export const manyFrames = async (count: number): Promise<Buffer> => {
  const chunk = (name: string, data: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length);
    return Buffer.concat([Buffer.from(name), length, data]);
  };
  const create = { width: 1, height: 1, channels: 4, background: '#f00' } as const;
  const still = await sharp({ create }).webp({ lossless: true }).toBuffer();
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(16), still.subarray(still.indexOf('VP8L'))]));
  const flags = Buffer.alloc(10);
  flags[0] = 0x12;
  const head = [Buffer.from('WEBP'), chunk('VP8X', flags), chunk('ANIM', Buffer.alloc(6))];
  return chunk('RIFF', Buffer.concat([...head, ...Array.from({ length: count }, () => frame)]));
};
