import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { JSON_UTF8 } from '#src/api/wire.ts';
import { openapiPlatform } from '#src/contract/openapi-platform.ts';

/** The page loads nothing from other hosts and runs no inline script. Swagger UI's icons are data: images. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Game Catalogue: platform-side operations</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** On narrow screens wide tables scroll instead of the page. */
const STYLE = '.swagger-ui .responses-inner, .swagger-ui .opblock-section { overflow-x: auto }';

/** Calls come from servers, never from clients (section 1): the page offers no "Try it out" and takes no token. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  docExpansion: 'full',
  validatorUrl: null,
  supportedSubmitMethods: [],
  plugins: [() => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } })],
});
`;

const readAsset = (name: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));

/** `GET /openapi.json`: the OpenAPI document. `GET /docs`: the same in Swagger UI. Neither needs a token. */
export const addDocumentRoutes = (app: FastifyInstance): void => {
  const serve = (path: string, contentType: string, content: string | Buffer): void => {
    app.get(path, async (_request, reply) =>
      reply.header('content-security-policy', PAGE_POLICY).header('content-type', contentType).send(content),
    );
  };
  serve('/openapi.json', JSON_UTF8, JSON.stringify(openapiPlatform()));
  serve('/docs', 'text/html; charset=utf-8', PAGE);
  serve('/docs/page.css', 'text/css; charset=utf-8', STYLE);
  serve('/docs/start.js', 'text/javascript; charset=utf-8', START);
  serve('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', readAsset('swagger-ui-bundle.js'));
  serve('/docs/swagger-ui.css', 'text/css; charset=utf-8', readAsset('swagger-ui.css'));
};
