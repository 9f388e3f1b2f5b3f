import type { JsonSchema, OpenApiDocument, Operation } from '#src/contract/openapi.ts';

export const STYLE = `
:root{color-scheme:light dark;--ink:#14161f;--soft:#5b6070;--line:#d5d8e2;--page:#fff;--card:#f4f5fa;--accent:#4338ca}
@media(prefers-color-scheme:dark){:root{--ink:#f0f1f6;--soft:#a5abbd;--line:#383d4c;--page:#0f1118;--card:#181b25;--accent:#a5a0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:2rem 1.25rem 4rem;background:var(--page);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.75rem;line-height:1.2}
h2{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{margin:2rem 0 .5rem}
a{color:var(--accent)}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{overflow-x:auto;padding:.875rem 1rem;border-radius:.5rem;background:var(--card)}
.path{display:block;padding:.625rem 1rem;border-radius:.5rem;background:var(--card);overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse}
th,td{padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-size:.8125rem;color:var(--soft)}
summary{cursor:pointer;margin:.5rem 0}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
`;

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** What our own descriptions use of Markdown: paragraphs, `code` and tables. */
const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="scroll"><table><thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`;
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => inline(cell.trim()));
const prose = (markdown: string): string =>
  markdown
    .split('\n\n')
    .map((block) => {
      if (!block.startsWith('|')) return `<p>${inline(block)}</p>`;
      const [head = '', , ...rows] = block.split('\n');
      return table(cellsOf(head), rows.map(cellsOf));
    })
    .join('\n');

const nameOf = (schema: JsonSchema): string | undefined =>
  String(schema.$ref ?? '')
    .split('/')
    .at(-1) || undefined;

/** A type in a few words: `array of GameSummary`, `integer, 1 to 100, default 20`. */
const typeOf = (schema: JsonSchema): string => {
  const name = nameOf(schema);
  if (name !== undefined) return `<a href="#${name}">${name}</a>`;
  const choices = schema.anyOf as JsonSchema[] | undefined;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items as JsonSchema)}`;
  const notes = [
    'const' in schema && `always ${escapeHtml(JSON.stringify(schema.const))}`,
    'minimum' in schema && 'maximum' in schema && `${schema.minimum} to ${schema.maximum}`,
    'minimum' in schema && !('maximum' in schema) && `at least ${schema.minimum}`,
    'default' in schema && `default ${JSON.stringify(schema.default)}`,
  ].filter((note) => note !== false);
  return [String(schema.type), ...notes].join(', ');
};

const schemaSection = ([name, schema]: [string, JsonSchema]): string => {
  const required = new Set(schema.required as string[] | undefined);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const values = schema.enum as string[] | undefined;
  const body =
    values !== undefined
      ? `<p>One of ${values.map((value) => `<code>${escapeHtml(value)}</code>`).join(', ')}.</p>`
      : table(
          ['Field', 'Type', 'Required', 'Meaning'],
          fields.map(([field, type]) => [
            `<code>${escapeHtml(field)}</code>`,
            typeOf(type),
            required.has(field) ? 'yes' : 'no',
            inline(String(type.description ?? '')),
          ]),
        );
  return `<h3 id="${name}">${name}</h3>${schema.description ? `<p>${inline(String(schema.description))}</p>` : ''}${body}`;
};

const examplesOf = (content: NonNullable<Operation['requestBody']>['content'] | undefined): string =>
  Object.values(content?.['application/json']?.examples ?? {})
    .map(
      ({ summary, value }) =>
        `<p>${inline(summary)}</p><pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`,
    )
    .join('');

const operationSection = (path: string, method: string, operation: Operation): string => {
  const responses = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content['application/json']?.schema ?? {};
    return `<details${status === '200' ? ' open' : ''}><summary><strong>${status}</strong> ${inline(description)} ${typeOf(schema)}</summary>${examplesOf(content)}</details>`;
  });
  const request = operation.requestBody?.content['application/json']?.schema;
  return `<h2 id="${operation.operationId}">${escapeHtml(operation.summary)}</h2>
<code class="path">${method.toUpperCase()} ${escapeHtml(path)}</code>
<p>${inline(operation.description)}</p>
<h3>Request${request === undefined ? '' : `: ${typeOf(request)}`}</h3>${examplesOf(operation.requestBody?.content)}
<h3>Answers</h3>${responses.join('\n')}`;
};

/** An OpenAPI document as one page for people: no script, nothing loaded from anywhere. */
export const docsPage = (document: OpenApiDocument): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(document.info.title)}</h1>
<p>${operations.map(({ operation }) => `<a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`).join(' · ')} · <a href="#schemas">Schemas</a> · <a href="openapi.json">OpenAPI document</a></p>
${prose(document.info.description)}
<p>Every call carries <code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code> and <code>Content-Type: application/json; charset=utf-8</code>.</p>
${operations.map(({ path, method, operation }) => operationSection(path, method, operation)).join('\n')}
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(schemaSection).join('\n')}
</main>
</body>
</html>
`;
};
