import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { docsPage, STYLE } from '#src/api/docs-page.ts';
import { JSON_UTF8 } from '#src/api/wire.ts';
import { openapiPlatform } from '#src/contract/openapi-platform.ts';

/** The page runs no script and loads nothing: only its one style, named by its hash. */
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /openapi.json`, the document itself, and `GET /docs`, the same for people. Without a token. */
export const addDocumentRoutes = (app: FastifyInstance): void => {
  const document = openapiPlatform();
  const text = JSON.stringify(document);
  const page = docsPage(document);
  app.get('/openapi.json', async (_request, reply) => reply.header('content-type', JSON_UTF8).send(text));
  app.get('/docs', async (_request, reply) =>
    reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8').send(page),
  );
};
