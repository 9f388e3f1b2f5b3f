/** The static files of the console. They are read at start; the hash in their URL lets browsers cache them for a year. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import type { FastifyInstance } from 'fastify';

type Asset = { url: string; type: string; content: string };

const createAsset = (name: string, type: string, content: string): Asset => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  return { url: `/assets/${hash}/${name}`, type: `${type}; charset=utf-8`, content };
};

/** Reads a file. @param path relative to this file */
const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6f64"/><g fill="#fff"><rect x="7" y="7" width="8" height="8" rx="2"/><rect x="17" y="7" width="8" height="8" rx="2" opacity=".55"/><rect x="7" y="17" width="8" height="8" rx="2" opacity=".55"/><path d="M18 17.6v6.8a.9.9 0 0 0 1.4.7l5.3-3.4a.9.9 0 0 0 0-1.4l-5.3-3.4a.9.9 0 0 0-1.4.7Z"/></g></svg>';

/** Makes a script of a file of `browser`, without its types. */
const createScript = (name: string): Asset =>
  createAsset(
    `${name.split('/').at(-1)}.js`,
    'text/javascript',
    stripTypeScriptTypes(readText(`./browser/${name}.ts`)),
  );

const HTMX_PATH = createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js');

/** The parts of the style sheet, in order: a later rule overrides an earlier one. */
const STYLES = [
  'base',
  'frame',
  'frame-narrow',
  'panel',
  'controls',
  'copy-text',
  'forms',
  'cards',
  'data',
  'data-narrow',
  'charts',
  'icons',
  'pictures',
  'viewer',
  'lanes',
  'review',
  'decide-many',
  'requests',
  'portal',
  'portal-steps',
  'portal-lines-narrow',
  'portal-narrow',
  'utilities',
  'print',
];

export const ASSETS = {
  css: createAsset(
    'console.css',
    'text/css',
    STYLES.map((name) => readText(`./browser/styles/${name}.css`)).join(''),
  ),
  htmx: createAsset('htmx.js', 'text/javascript', readFileSync(HTMX_PATH, 'utf8')),
  logo: createAsset('logo.svg', 'image/svg+xml', LOGO),
};

/** The modules of every page. */
export const SCRIPTS = [
  'console',
  'next-game',
  'elements/shortcut-scope',
  'elements/toast-stack',
  'elements/picture-viewer',
  'elements/copy-text',
  'elements/application-box',
  'drafts',
  'live-times',
].map(createScript);

/** Serves the files under `/assets`, without sign-in. */
export const addAssets = (app: FastifyInstance): void => {
  for (const { url, type, content } of [...Object.values(ASSETS), ...SCRIPTS]) {
    app.get(url, { config: { right: 'public' } }, async (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    );
  }
};
