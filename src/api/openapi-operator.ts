import type { z } from 'zod';
import { ENDPOINTS, type Endpoint } from '#src/api/endpoints.ts';
import { createOpenApiDocument, describeOperation, type OpenApiDocument } from '#src/contract/openapi.ts';
import { CALL_FAILURES, CODE_TABLE, describeFailures } from '#src/contract/openapi-failures.ts';
import { successOf } from '#src/contract/platform.ts';

type Served = Endpoint & { answer: z.ZodType };
const isServed = (endpoint: Endpoint): endpoint is Served => endpoint.answer !== undefined;

const inPerson = ENDPOINTS.filter((endpoint) => !isServed(endpoint));

const DESCRIPTION = `What operators do and see, for machines: each path is an operation or a list, as the console and the command line have it.

Create a token with \`catalogue token create --operator <login>\`. It acts as that operator, with at most the roles of the token, and ends with the operator; the audit log names both. Every call is a POST with \`Authorization: Bearer <ACCESS_TOKEN>\` and \`Content-Type: application/json; charset=utf-8\`, and every response is the envelope \`{"ret_code", "ret_msg", "data"}\`. A field that an operation does not know is refused. A token may make 1,200 calls a minute.

Lists take \`{"filter": {…}, "sort": "-started_at", "limit": 100, "cursor": "…"}\` and give \`{"list": […], "total": 7, "next": "<cursor>" | null}\`.

A decision names the revision that was seen. If the content has moved, the game is not decided and its \`result\` says so; if no game was decided, the response is 40901.

An act that takes two persons takes \`approval_id\`. A person approves it, signed in at a page. Operators also do in person:

${inPerson.map(({ title, who }) => `- ${title}. ${who}`).join('\n')}

${CODE_TABLE}`;

/** \`run.start_accepting\` as \`runStartAccepting\`. */
const operationId = (name: string): string =>
  name.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

const describe = ({ name, title, who, request, answer, failures }: Served) =>
  describeOperation({
    operationId: operationId(name),
    summary: title,
    description: who,
    tag: name.replace(/\..*/, ''),
    request,
    success: title,
    response: successOf(answer),
    failures: describeFailures([...CALL_FAILURES, ...failures]),
  });

/** Describes the paths of a tag by their titles. */
const describeTag = (served: readonly Endpoint[], tag: string): string =>
  `${served
    .filter(({ name }) => name.startsWith(`${tag}.`))
    .map(({ title }) => title)
    .join('; ')}.`;

/** The OpenAPI 3.1 document of the operator API. */
export const openapiOperator = (): OpenApiDocument => {
  const served = ENDPOINTS.filter(isServed);
  const tags = [...new Set(served.map(({ name }) => name.replace(/\..*/, '')))].toSorted();
  return createOpenApiDocument({
    title: 'Game Catalogue: operator API',
    description: DESCRIPTION,
    accessToken: 'Created with `catalogue token create --operator <login>`.',
    servers: [{ url: '/' }],
    tags: tags.map((name) => ({ name, description: describeTag(served, name) })),
    paths: Object.fromEntries(served.map((endpoint) => [endpoint.path, describe(endpoint)])),
  });
};
