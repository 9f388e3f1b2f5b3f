// A home, a file and the settings for the tests of `apply`.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createApiToken } from '#src/identity/secrets.ts';
import { runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const KEYS = [8, 9].map((byte) => `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`).join(',');
export const TOKEN = 'the-token-of-others';
/** Of what reads them, and of Compose, whose file of settings commands read too. */
export const OTHER_SETTINGS = {
  PGPASSWORD: ' a-password-of-postgres ',
  POSTGRES_PASSWORD_WORKER: 'a-password-of-the-worker',
  AWS_SECRET_ACCESS_KEY_WORKER: 'a-key-of-the-worker',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a-key-of-telemetry,x-key=another-key',
};

export const application = (id: string, more = '') => `  ${id}:
    name: ${id} Games
    query_game_list_webhook: https://${id}.example/list
    query_game_detail_webhook: https://${id}.example/detail
    query_cp_kyc_webhook: https://${id}.example/kyc
${more}`;
export const FILE = `applications:
${application('acme', '    access_token_file: acme.token\n    every: 30m')}
${application('mizu', '    access_token_env: OTHERS_TOKEN')}
reasons:
  gambling: { label: Misleading, text: The pictures promise what the game does not have. }
`;

/** Applies files to a database, from a home with files that tokens and secrets are in. */
export const useApply = () => {
  const database = useTestDatabase();
  let home = '';
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'catalogue-apply-'));
    await writeFile(join(home, 'acme.token'), 'the-token-of-acme\n');
    execFileSync('mkfifo', [join(home, 'pipe')]);
    const { DATABASE_URL_OPERATOR } = asOperator(database.databaseUrl);
    await writeFile(join(home, 'password'), `${DATABASE_URL_OPERATOR}\n`);
    await writeFile(join(home, 'aws-token'), 'a-token-that-opens-keys\n');
    await writeFile(join(home, 'one-line.env'), `DATABASE_URL_OPERATOR=${DATABASE_URL_OPERATOR}\n`);
    // Secrets of Docker, of which settings are made.
    await writeFile(
      join(home, 'docker-password'),
      decodeURIComponent(new URL(DATABASE_URL_OPERATOR).password),
    );
    await writeFile(join(home, 'one-key'), `${KEYS.split(',')[1]}\n`);
    await writeFile(join(home, 'telemetry-key'), 'a-key-of-telemetry\n');
    await writeFile(join(home, 'another-key'), 'another-key\n');
    const apiToken = createApiToken();
    await writeFile(join(home, 'acme.api-token'), `${apiToken}\n`);
    await writeFile(join(home, 'token.env'), `TOKEN=${apiToken}\n`);
    // As the embedded Postgres and the first process write them.
    await writeFile(join(home, 'postgres.json'), '{"directory":"postgres","password":"a1b2c3"}');
    await writeFile(join(home, 'keys'), `home-0123abcd:${Buffer.alloc(32, 7).toString('base64')}\n`);
  });
  afterAll(async () => {
    await rm(home, { recursive: true });
  });
  const environment = () => ({
    ...asOperator(database.databaseUrl),
    ...OTHER_SETTINGS,
    ENCRYPTION_KEYS: KEYS,
    CATALOGUE_HOME: home,
    AWS_WEB_IDENTITY_TOKEN_FILE: join(home, 'aws-token'),
    OTHERS_TOKEN: TOKEN,
  });
  const catalogue = (...args: string[]) => runCli(args, environment());
  const apply = async (text: string | Buffer, ...args: string[]) => {
    const file = join(home, 'catalogue.yaml');
    await writeFile(file, text);
    return catalogue('apply', '--file', file, ...args);
  };
  return { database, home: () => home, environment, catalogue, apply };
};
