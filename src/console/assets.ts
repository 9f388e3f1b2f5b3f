/** The console's own files: read at start, named by their hash, cached for ever by browsers. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import type { FastifyInstance } from 'fastify';

export type Asset = { url: string; type: string; content: string };

const asset = (name: string, type: string, content: string): Asset => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  return { url: `/assets/${hash}/${name}`, type: `${type}; charset=utf-8`, content };
};

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6f64"/><g fill="#fff"><rect x="7" y="7" width="8" height="8" rx="2"/><rect x="17" y="7" width="8" height="8" rx="2" opacity=".55"/><rect x="7" y="17" width="8" height="8" rx="2" opacity=".55"/><path d="M18 17.6v6.8a.9.9 0 0 0 1.4.7l5.3-3.4a.9.9 0 0 0 0-1.4l-5.3-3.4a.9.9 0 0 0-1.4.7Z"/></g></svg>';

const HTMX = createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js');

/** The style sheet's parts, in order: a later one overrules an earlier one. */
const STYLES = [
  'base',
  'frame',
  'panel',
  'controls',
  'data',
  'charts',
  'pictures',
  'review',
  'requests',
  'utilities',
];

export const ASSETS = {
  css: asset('console.css', 'text/css', STYLES.map((name) => read(`./browser/styles/${name}.css`)).join('')),
  script: asset('console.js', 'text/javascript', stripTypeScriptTypes(read('./browser/console.ts'))),
  htmx: asset('htmx.js', 'text/javascript', readFileSync(HTMX, 'utf8')),
  logo: asset('logo.svg', 'image/svg+xml', LOGO),
};

/** Serves the files under `/assets`, without sign-in. */
export const addAssets = (app: FastifyInstance): void => {
  for (const { url, type, content } of Object.values(ASSETS)) {
    app.get(url, { config: { right: 'public' } }, async (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    );
  }
};
