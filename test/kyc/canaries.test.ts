import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findKycRecord, findKycState } from '#db/queries/kyc.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { ACCESS_TOKEN, addApplication, KIM } from '#test/support/factories.ts';
import { PLANTED, ringOf } from '#test/support/kyc.ts';
import { formsOf, startFleet, type TestFleet } from '#test/support/kyc-fleet.ts';
import { eraseKyc } from '#test/support/operate.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const keys = ringOf(['k1'], 'home-aaaaaaaa');
/** The job with two attempts and no delay between them. */
const hasty = { ...queryCpKyc, options: { ...queryCpKyc.options, attempts: 2, backoffMs: 1 } };
const LEAKS = [...Object.values(PLANTED), ACCESS_TOKEN];

const envelope = (data: unknown, ret_code = 0, ret_msg = 'success') =>
  JSON.stringify({ ret_code, ret_msg, data });
const everything = Object.values(PLANTED).join(' | ');
const quoting = (extra: object) => envelope({ ...PLANTED, note: everything, ...extra });

/** Every way a pull can go wrong: what the application answers, and what becomes of it. */
const FAILURES: Record<string, { answer: (response: ServerResponse) => unknown; reason: RegExp }> = {
  'a field of another type': {
    answer: (r) => r.end(quoting({ tax_id: [PLANTED.tax_id] })),
    reason: /invalid_data/,
  },
  'a field that is missing': {
    answer: (r) => r.end(quoting({ cp_name: undefined })),
    reason: /invalid_data/,
  },
  'a field that is too long': {
    answer: (r) => r.end(quoting({ opening_bank: PLANTED.opening_bank.repeat(200) })),
    reason: /invalid_data/,
  },
  'a field with U+0000': {
    answer: (r) => r.end(quoting({ legal_entity: `${PLANTED.legal_entity}\u0000` })),
    reason: /invalid_data/,
  },
  'data that is a list': { answer: (r) => r.end(envelope([PLANTED])), reason: /invalid_data/ },
  'a ret_code with a ret_msg that carries values': {
    answer: (r) => r.end(envelope(PLANTED, 50_001, `refused: ${everything}`)),
    reason: /ret_code/,
  },
  'no envelope': { answer: (r) => r.end(JSON.stringify(PLANTED)), reason: /not_envelope/ },
  'text that is no JSON': { answer: (r) => r.end(`<p>${everything}</p>`), reason: /not_json/ },
  'bytes that are not UTF-8': {
    answer: (r) => r.end(Buffer.concat([Buffer.from(envelope(PLANTED)), Buffer.of(0xff)])),
    reason: /not_utf8/,
  },
  'an error page': { answer: (r) => r.writeHead(500).end(everything), reason: /http_status/ },
  'a redirect': {
    answer: (r) => r.writeHead(302, { location: `/?${new URLSearchParams(PLANTED)}` }).end(everything),
    reason: /redirect/,
  },
  'a stop in the middle of the body': {
    answer: (r) => r.write(envelope(PLANTED).slice(0, -9)),
    reason: /timeout/,
  },
  'a connection that breaks in the middle': {
    answer: (r) => r.writeHead(200, { 'content-length': '9999' }).write(envelope(PLANTED), () => r.destroy()),
    reason: /connection_lost/,
  },
};

/** One of the responses never ends. */
const HANGS = { callTimeoutMs: 2_000 };

describe.each(['redis', 'postgres'] as const)('on %s, after successes and failures', (kind) => {
  const database = useTestDatabase();
  let sql: Database;
  let server: RawServer;
  let answer: (response: ServerResponse) => unknown = (response) => response.end(envelope(PLANTED));
  const fleets: TestFleet[] = [];
  let next = 0;

  beforeAll(async () => {
    if (kind === 'redis' && inject('redisUrl') === null) return;
    sql = database.sql;
    server = await startRawServer((request, response) => {
      request.resume().on('end', () => answer(response));
    });
    fleets.push(await startFleet(kind, { sql, databaseUrl: database.databaseUrl }, [hasty], keys, HANGS));
  });
  afterAll(async () => {
    for (const fleet of fleets) await fleet.stop();
    await server?.close();
  });

  const pull = async (application_id: string, then: typeof answer, fleet = fleets[0] as TestFleet) => {
    answer = then;
    return fleet.finish(hasty, { application_id });
  };
  const anApplication = async () => {
    next += 1;
    await addApplication(sql, `app-${next}`, { query_cp_kyc_webhook: `${server.url}/kyc` }, keys);
    return `app-${next}`;
  };
  const succeed =
    (change: object = {}) =>
    (response: ServerResponse) =>
      response.end(envelope({ ...PLANTED, ...change }));

  it.skipIf(kind === 'redis' && inject('redisUrl') === null)(
    'only sealed columns and cp_id contain a value',
    async () => {
      const app = await anApplication();
      expect(await pull(app, succeed())).toEqual({ result: { state: 'sealed' } });
      expect(await pull(app, succeed())).toEqual({ result: { state: 'unchanged' } });
      expect(await pull(app, succeed({ cp_name: `${PLANTED.cp_name} II` }))).toEqual({
        result: { state: 'sealed' },
      });
      expect(await pull(app, (response) => response.end(envelope(null)))).toEqual({
        result: { state: 'not_provided' },
      });

      for (const [title, { answer: wrong, reason }] of Object.entries(FAILURES)) {
        const failing = await anApplication();
        expect({ title, ...(await pull(failing, wrong)) }).toEqual({
          title,
          failed: expect.stringMatching(/./),
        });
        const state = await findKycState(sql, failing);
        expect({ title, state: state?.state, reason: state?.reason }).toEqual({
          title,
          state: 'failed',
          reason: expect.stringMatching(reason),
        });
      }

      const moved = await anApplication();
      await pull(moved, succeed());
      expect(await pull(moved, succeed({ cp_id: `${PLANTED.cp_id}-b` }))).toEqual({
        result: { state: 'cp_id_changed' },
      });

      const erased = await anApplication();
      await pull(erased, succeed());
      await eraseKyc(sql, erased, { ...KIM, reason: 'request' });
      expect(await pull(erased, succeed())).toEqual({ result: { skipped: 'erased' } });

      // The write itself fails: Postgres quotes the whole row in its error.
      const refused = await anApplication();
      await sql`alter table kyc_records add constraint closed check (application_id = '') not valid`;
      expect(await pull(refused, succeed())).toEqual({ failed: 'PostgresError 23514' });
      await sql`alter table kyc_records drop constraint closed`;
      expect(await findKycState(sql, refused)).toMatchObject({ state: 'failed', reason: 'internal' });
      expect(await sql`select 1 from content_providers where application_id = ${refused}`).toHaveLength(0);

      // A worker with the wrong key fails closed, and does not call the application.
      const unread = await anApplication();
      const wrongKeys = { records: ringOf(['k9'], 'home-aaaaaaaa').records, tokens: [] };
      const other = await startFleet(
        kind,
        { sql, databaseUrl: database.databaseUrl },
        [hasty],
        wrongKeys,
        HANGS,
      );
      fleets.push(other);
      // One worker a queue from here on, so that it is this one which takes the job.
      const first = fleets.shift() as TestFleet;
      const seen = { log: first.log(), redis: await first.redisDump(), board: await first.boardDump(hasty) };
      await first.stop();
      const connections = server.connections();
      expect(await pull(unread, succeed(), other)).toEqual({
        failed:
          'The row fingerprint of kyc_keys is sealed under key k1, which this process does not have (it has: k9, home-aaaaaaaa). See ENCRYPTION_KEYS.',
      });
      expect(server.connections()).toBe(connections);
      expect(await findKycState(sql, unread)).toMatchObject({ state: 'failed', reason: 'unknown_key' });
      expect(await findKycRecord(sql, unread)).toBeUndefined();

      seen.log += other.log();
      seen.redis += await other.redisDump();
      seen.board += await other.boardDump(hasty);

      // The places that are searched contain the job's traces, and the values are stored, sealed.
      const record = await findKycRecord(sql, app);
      expect((await openKycRecord(keys, record as NonNullable<typeof record>)).tax_id).toBe(PLANTED.tax_id);
      const tables = Object.entries(await everyRow(sql)).map(([where, rows]) => ({
        where,
        text: rows.join('\n'),
      }));
      const textOf = (name: string) => tables.find(({ where }) => where === name)?.text ?? '';
      expect(textOf('kyc_records')).toContain(app);
      expect(textOf('ingest_failures')).toContain('tax_id');
      expect(textOf('content_providers')).toContain(PLANTED.cp_id);
      if (kind === 'postgres')
        expect(
          tables.filter(({ where, text }) => where.startsWith('bullmq.') && text.includes(app)),
        ).not.toEqual([]);

      const searched = [
        ...tables,
        { where: 'the log', text: seen.log },
        { where: 'Redis', text: seen.redis },
        { where: 'Bull Board', text: seen.board },
      ];
      expect(seen.log).toContain(app);
      expect(seen.board).toContain(`${app} kyc`);
      if (kind === 'redis') expect(seen.redis).toContain(`"${app} kyc"`);
      const cpIdColumns = ['content_providers', 'kyc_states'];
      const found = searched.flatMap(({ where, text }) =>
        LEAKS.filter((value) => !(value === PLANTED.cp_id && cpIdColumns.includes(where)))
          .filter((value) => formsOf(value).some((form) => text.includes(form)))
          .map((value) => `${value} in ${where}`),
      );
      expect(found).toEqual([]);
    },
  );
});

describe('the search for values', () => {
  it('finds them however they are written', () => {
    for (const [text, value] of [
      [`xx${PLANTED.tax_id}yy`, PLANTED.tax_id],
      [Buffer.from(`a${PLANTED.tax_id}b`).toString('base64'), PLANTED.tax_id],
      [Buffer.from(`ab${PLANTED.tax_id}b`).toString('base64'), PLANTED.tax_id],
      [Buffer.from(`abc${PLANTED.tax_id}`).toString('base64url'), PLANTED.tax_id],
      [Buffer.from(PLANTED.tax_id).toString('hex'), PLANTED.tax_id],
      [encodeURIComponent(PLANTED.cp_name), PLANTED.cp_name],
    ] as const) {
      expect({ text, found: formsOf(value).some((form) => text.includes(form)) }).toEqual({
        text,
        found: true,
      });
    }
  });
});
