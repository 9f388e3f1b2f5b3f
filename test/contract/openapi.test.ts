import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openapiOperator } from '#src/api/openapi-operator.ts';
import {
  applicationGameDetailSchema,
  applicationGameSummarySchema,
  kycRecordSchema,
} from '#src/contract/application.ts';
import type { OpenApiDocument } from '#src/contract/openapi.ts';
import { openapiApplication } from '#src/contract/openapi-application.ts';
import { openapiPlatform } from '#src/contract/openapi-platform.ts';
import { useTestApi } from '#test/support/api.ts';
import { addApplication, addGames, addToken } from '#test/support/factories.ts';

const api = useTestApi();
let token: string;
let game_ids: string[];
let directory: string;
beforeAll(async () => {
  await addApplication(api.sql, 'acme');
  token = (await addToken(api.sql, 'acme')).token;
  game_ids = await addGames(api.sql, 'acme', 25);
  directory = await mkdtemp(join(tmpdir(), 'catalogue-contract-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const run = promisify(execFile);
const REDOCLY = resolve('node_modules/@redocly/cli/bin/cli.js');
/** Runs the public linter and contract tester, offline. @returns its output; rejects if it reports an error */
const redocly = async (...args: string[]): Promise<string> => {
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    NO_COLOR: '1',
  };
  try {
    const { stdout, stderr } = await run(process.execPath, [REDOCLY, ...args], { cwd: directory, env });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}\n${stderr}`, { cause: error });
  }
};
const save = async (name: string, value: unknown): Promise<string> => {
  await writeFile(join(directory, name), JSON.stringify(value));
  return name;
};

describe('the OpenAPI 3.1 documents', () => {
  test('a public linter reports no error, examples included', async () => {
    for (const [name, document] of Object.entries({
      platform: openapiPlatform(),
      application: openapiApplication(),
      operator: openapiOperator(),
    })) {
      const file = await save(`${name}.json`, document);
      expect(await redocly('lint', '--extends', 'recommended-strict', file)).toContain('valid');
    }
  });

  test('/openapi.json is the document, and needs no token', async () => {
    const response = await fetch(`${api.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapiPlatform())));
  });

  test('the page fields have the defaults and the maximum of section 8', () => {
    expect(openapiPlatform().components?.schemas?.ListByAuditStatusRequest).toMatchObject({
      required: ['audit_status'],
      properties: {
        page_num: { minimum: 1, default: 1 },
        page_size: { minimum: 1, maximum: 100, default: 20 },
      },
    });
  });

  test('the fields of games and KYC records have the bounds that the platform checks', () => {
    const schemas = openapiApplication().components?.schemas;
    const url = { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://', maxLength: 2_048 };
    const optionalUrl = { type: 'string', anyOf: [{ const: '' }, url] };
    const urlList = { type: 'array', maxItems: 100, items: { type: 'string', ...url } };
    const name = { type: 'string', maxLength: 512 };
    expect(schemas?.GameSummary).toMatchObject({
      properties: { game_id: { ...name, minLength: 1 }, game_name: name, game_icon: optionalUrl },
    });
    expect(schemas?.GameDetail).toMatchObject({
      properties: {
        game_icon: urlList,
        game_info: { type: 'string', maxLength: 65_536 },
        game_store_video: optionalUrl,
        game_store_pic: urlList,
      },
    });
    expect(schemas?.KycRecord).toMatchObject({
      properties: { cp_id: { ...name, minLength: 1 }, tax_id: { type: 'string', maxLength: 2_048 } },
    });
  });

  test("group B's examples pass the schemas that validate applications' responses (sections 2.4 to 2.6)", () => {
    const dataOf = (path: string, name: string) => {
      const content =
        openapiApplication().paths?.[path]?.post?.responses?.['200']?.content?.['application/json'];
      return (content?.examples?.[name] as { value: { data?: unknown } } | undefined)?.value.data;
    };
    kycRecordSchema.parse(dataOf('/query_cp_kyc_webhook', 'record'));
    applicationGameDetailSchema.parse(dataOf('/query_game_detail_webhook', 'game'));
    const { list } = dataOf('/query_game_list_webhook', 'page') as { list: unknown[] };
    for (const row of list) applicationGameSummarySchema.parse(row);
  });
});

describe('a client made from the document', () => {
  test('lists and reads games over a socket', async () => {
    const definition = await (await fetch(`${api.url}/openapi.json`)).json();
    const client = await new OpenAPIClientAxios({
      definition: definition as Document,
      withServer: { url: api.url },
      axiosConfigDefaults: { headers: { authorization: `Bearer ${token}` } },
    }).init();
    const listByAuditStatus = client.listByAuditStatus;
    const queryDetail = client.queryDetail;
    if (!listByAuditStatus || !queryDetail) throw new Error('the document lacks an operationId');

    const { data: listed } = await listByAuditStatus(undefined, {
      audit_status: 'pending',
      page_num: 2,
      page_size: 10,
    });
    expect(listed.data.total).toBe(25);
    expect(listed.data.list.map((game: { game_id: string }) => game.game_id)).toEqual(game_ids.slice(10, 20));
    const { data: read } = await queryDetail(undefined, { game_id: game_ids[0] });
    expect(read.data).toMatchObject({ game_id: game_ids[0], audit_status: 'pending' });
  });
});

describe('a public contract tester over the document and the live server', () => {
  const step = (
    stepId: string,
    operationId: string,
    payload: unknown,
    status: number,
    accessToken: string | null,
  ) => ({
    stepId,
    operationId: `$sourceDescriptions.platform.${operationId}`,
    requestBody: { contentType: 'application/json', payload },
    ...(accessToken !== null && {
      'x-security': [{ schemeName: 'accessToken', values: { token: accessToken } }],
    }),
    successCriteria: [{ condition: `$statusCode == ${status}` }],
  });

  test('finds every status, content type and body as the document says', async () => {
    const document: OpenApiDocument = { ...openapiPlatform(), servers: [{ url: api.url }] };
    await save('live.json', document);
    const steps = [
      step('list', 'listByAuditStatus', { audit_status: 'pending', page_num: 1, page_size: 100 }, 200, token),
      step('list-defaults', 'listByAuditStatus', { audit_status: 'passed' }, 200, token),
      step('list-past-the-end', 'listByAuditStatus', { audit_status: 'pending', page_num: 99 }, 200, token),
      step('list-without-status', 'listByAuditStatus', {}, 400, token),
      step('list-too-large', 'listByAuditStatus', { audit_status: 'pending', page_size: 101 }, 400, token),
      step('list-made-up-token', 'listByAuditStatus', { audit_status: 'pending' }, 401, 'gct_made-up'),
      step('detail', 'queryDetail', { game_id: game_ids[0] }, 200, token),
      step('detail-absent', 'queryDetail', { game_id: 'nonsense' }, 200, token),
      step('detail-without-id', 'queryDetail', {}, 400, token),
      step('detail-large', 'queryDetail', { game_id: 'x'.repeat(17_000) }, 413, token),
    ];
    await save('live.arazzo.json', {
      arazzo: '1.0.1',
      info: { title: 'The platform side, live', version: '1' },
      sourceDescriptions: [{ name: 'platform', type: 'openapi', url: 'live.json' }],
      workflows: [{ workflowId: 'all', steps }],
    });
    await redocly('respect', 'live.arazzo.json', '--json-output', 'found.json');
    const found = JSON.parse(await readFile(join(directory, 'found.json'), 'utf8'));
    const executed = JSON.stringify(found).match(/"stepId":"[^"]+"/g);
    expect(new Set(executed).size).toBe(steps.length);
  });

  test('reports a deviation', async () => {
    const document = openapiPlatform();
    const summary = document.components?.schemas?.GameSummary as { properties: Record<string, unknown> };
    summary.properties.audit_time = { type: 'integer' };
    await save('wrong.json', { ...document, servers: [{ url: api.url }] });
    await save('wrong.arazzo.json', {
      arazzo: '1.0.1',
      info: { title: 'A document that is wrong', version: '1' },
      sourceDescriptions: [{ name: 'platform', type: 'openapi', url: 'wrong.json' }],
      workflows: [
        {
          workflowId: 'all',
          steps: [step('list', 'listByAuditStatus', { audit_status: 'pending' }, 200, token)],
        },
      ],
    });
    await expect(redocly('respect', 'wrong.arazzo.json')).rejects.toThrow(/audit_time/);
  });
});
