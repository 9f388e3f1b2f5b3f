import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ApplicationGameDetail, applicationGameDetailSchema } from '#src/contract/application.ts';
import { isCallError } from '#src/egress/errors.ts';
import { aClient, aServer, askDetail, detail, errorOf } from '#test/support/webhooks.ts';

const SUITE = new URL('../../../shared/data/json-test-suite.json', import.meta.url);
const suite: Record<string, string> = existsSync(SUITE) ? JSON.parse(readFileSync(SUITE, 'utf8')) : {};
if (!existsSync(SUITE)) process.stderr.write('JSONTestSuite is skipped: it is not beside this checkout\n');

test.runIf(existsSync(SUITE))(
  'every case of JSONTestSuite, as a body and as a value in one, ends in a reason',
  async () => {
    let body = Buffer.alloc(0);
    const server = await aServer(
      (request, response) => void request.resume().on('end', () => response.end(body)),
    );
    const client = aClient();
    const broken = ['not_json', 'not_utf8', 'too_deep'];
    for (const [name, base64] of Object.entries(suite)) {
      const bytes = Buffer.from(base64, 'base64');
      body = bytes;
      const { code } = await errorOf(askDetail(client, server.url));
      body = Buffer.concat([
        Buffer.from('{"ret_code":0,"ret_msg":"success","data":'),
        bytes,
        Buffer.from('}'),
      ]);
      const inside = await askDetail(client, server.url).catch((error: unknown) => error);
      if (name.startsWith('n_')) expect([name, broken.includes(code)]).toEqual([name, true]);
      if (name.startsWith('y_')) expect([name, code]).toEqual([name, 'not_envelope']);
      if (inside !== null) expect([name, isCallError(inside)]).toEqual([name, true]);
    }
  },
);

/** Ways to spoil a valid envelope: as a value, as text and as bytes. */
const mutations = fc.record({
  value: fc.option(
    fc.record({
      field: fc.constantFrom(
        'game_id',
        'game_name',
        'game_icon',
        'game_info',
        'game_store_video',
        'game_store_pic',
      ),
      value: fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.webUrl(), fc.array(fc.webUrl())),
    }),
  ),
  text: fc.option(
    fc.record({ at: fc.nat(), cut: fc.nat(40), put: fc.string({ unit: 'binary', maxLength: 10 }) }),
  ),
  bytes: fc.option(fc.record({ at: fc.nat(), put: fc.uint8Array({ minLength: 1, maxLength: 4 }) })),
  status: fc.constantFrom(200, 200, 200, 404, 500),
  retCode: fc.constantFrom<unknown>(0, 0, 0, 0, 1, '0', null, -1),
});

test('hundreds of spoiled envelopes end in a game that is valid at its source, in null, or in a reason', async () => {
  let reply = { status: 200, body: Buffer.alloc(0) };
  const server = await aServer((request, response) => {
    request.resume().on('end', () => response.writeHead(reply.status).end(reply.body));
  });
  const client = aClient();
  await fc.assert(
    fc.asyncProperty(mutations, async ({ value, text, bytes, status, retCode }) => {
      const data = value === null ? detail() : { ...detail(), [value.field]: value.value };
      let source = JSON.stringify({ ret_code: retCode, ret_msg: 'success', data });
      if (text !== null) {
        const at = text.at % source.length;
        source = source.slice(0, at) + text.put + source.slice(at + text.cut);
      }
      const body = Buffer.from(source);
      if (bytes !== null)
        body.set(
          bytes.put.subarray(0, body.length),
          Math.min(bytes.at % body.length, body.length - bytes.put.length),
        );
      reply = { status, body };
      const outcome = await askDetail(client, server.url).catch((error: unknown) => error);
      if (outcome === null || isCallError(outcome)) return;
      const parsed = JSON.parse(body.toString());
      const expected: ApplicationGameDetail = applicationGameDetailSchema.parse(parsed.data);
      expect(outcome).toEqual(expected);
      expect(outcome).toMatchObject({ game_id: 'g1' });
      expect(parsed.ret_code).toBe(0);
    }),
    { numRuns: 500 },
  );
});
