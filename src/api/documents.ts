import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { openapiOperator } from '#src/api/openapi-operator.ts';
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

const htmlPage = (title: string, styles: readonly string[], body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map((name) => `<link rel="stylesheet" href="docs/${name}">`).join('\n')}
</head>
<body>
${body}
</body>
</html>
`;

const OPERATOR_DOCUMENT = 'openapi-operator.json';

type DocumentPage = { title: string; token: string; path: string; body: object; document: string };

/** Swagger UI with a document. An example of a first request stands above it. */
const documentPage = ({ title, token, path, body, document }: DocumentPage): string =>
  htmlPage(
    title,
    ['swagger-ui.css', 'page.css'],
    `<section class="first-request">
<h1>A first request</h1>
<p>${token}</p>
<pre><code>curl <span class="origin">ADDRESS-OF-THIS-API</span>${path} \\
  --header "Authorization: Bearer $TOKEN" \\
  --header "Content-Type: application/json; charset=utf-8" \\
  --data '${JSON.stringify(body)}'</code></pre>
</section>
<div id="swagger-ui" data-url="${document}"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>`,
  );

const PAGE = documentPage({
  title: 'Game Catalogue: platform-side operations',
  token:
    'An operator creates your token with <code>catalogue token create --application &lt;application_id&gt;</code>. Then, on your server:',
  path: '/open-api/game/list-by-audit-status',
  body: { audit_status: 'pending', page_num: 1, page_size: 20 },
  document: 'openapi.json',
});

const OPERATOR_PAGE = documentPage({
  title: 'Game Catalogue: operator API',
  token:
    'Create a token with <code>catalogue token create --operator &lt;login&gt; --role &lt;role&gt;</code>. Then:',
  path: '/operator-api/application/list',
  body: { filter: { status: 'trouble' } },
  document: OPERATOR_DOCUMENT,
});

/** What the API is, for a person who opens its address. */
const ROOT = htmlPage(
  'Game Catalogue API',
  ['page.css'],
  `<main class="first-request">
<h1>Game Catalogue API</h1>
<p>Servers of applications read the status of their games here.</p>
<ul>
<li><a href="docs">docs</a>: the operations, with a first request to copy</li>
<li><a href="openapi.json">openapi.json</a>: the OpenAPI 3.1 document</li>
<li><a href="healthz">healthz</a>: does the process run?</li>
</ul>
</main>`,
);

/** On narrow screens wide tables scroll instead of the page. */
const STYLE = `.swagger-ui .responses-inner, .swagger-ui .opblock-section { overflow-x: auto }
body { margin: 0 }
.first-request { max-width: 1460px; margin: 0 auto; padding: 24px 20px 0; box-sizing: border-box; font: 16px/1.5 sans-serif; color: #3b4151 }
.first-request h1 { font-size: 24px; margin: 0 }
.first-request pre { overflow-x: auto; padding: 16px; border-radius: 4px; background: #1b1f24; color: #fff; font-size: 14px }
`;

/** Calls come from servers, never from clients (section 1), so the page offers no "Try it out" and takes no token. */
const START = `for (const each of document.querySelectorAll('.origin')) each.textContent = location.origin;
SwaggerUIBundle({
  url: document.querySelector('#swagger-ui').dataset.url,
  dom_id: '#swagger-ui',
  docExpansion: 'full',
  validatorUrl: null,
  supportedSubmitMethods: [],
  plugins: [() => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } })],
});
`;

const readAsset = (name: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));

/**
 * `GET /`, `GET /openapi.json`, and `GET /docs`: the document in Swagger UI. None needs a token.
 * @param hasOperatorApi adds the same for the operator API
 */
export const addDocumentRoutes = (app: FastifyInstance, hasOperatorApi: boolean): void => {
  const serve = (path: string, contentType: string, content: string | Buffer): void => {
    app.get(path, async (_request, reply) =>
      reply.header('content-security-policy', PAGE_POLICY).header('content-type', contentType).send(content),
    );
  };
  serve('/', 'text/html; charset=utf-8', ROOT);
  serve('/openapi.json', JSON_UTF8, JSON.stringify(openapiPlatform()));
  serve('/docs', 'text/html; charset=utf-8', PAGE);
  if (hasOperatorApi) {
    serve(`/${OPERATOR_DOCUMENT}`, JSON_UTF8, JSON.stringify(openapiOperator()));
    serve('/operator-docs', 'text/html; charset=utf-8', OPERATOR_PAGE);
  }
  serve('/docs/page.css', 'text/css; charset=utf-8', STYLE);
  serve('/docs/start.js', 'text/javascript; charset=utf-8', START);
  serve('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', readAsset('swagger-ui-bundle.js'));
  serve('/docs/swagger-ui.css', 'text/css; charset=utf-8', readAsset('swagger-ui.css'));
};
