import { expect, test } from 'vitest';
import { ROLES, readCompose } from '#test/ops/compose.ts';
import { runCli } from '#test/support/cli.ts';
import { startFleetProcess } from '#test/support/fleet-process.ts';
import { roleUrls } from '#test/support/roles.ts';
import { createSmallFleet, withoutRedis } from '#test/support/small-fleet.ts';
import { until } from '#test/support/until.ts';

test.skipIf(withoutRedis())('every service starts with the environment of docker-compose.yml', async () => {
  const { services } = await readCompose();
  await using fleet = await createSmallFleet();
  const urls = roleUrls(fleet.env.DATABASE_URL ?? '');
  const values = { ...fleet.env, ...urls };
  const { QUEUE_PREFIX = '', CATALOGUE_HOME = '' } = fleet.env;
  for (const role of ROLES.toReversed()) {
    const names = new Set(Object.keys(services[role]?.environment ?? {}));
    const given = Object.entries(values).filter(([name]) => names.has(name));
    const env = {
      ...Object.fromEntries(given),
      QUEUE_PREFIX,
      CATALOGUE_HOME,
      API_PORT: '0',
      CONSOLE_PORT: '0',
      KYC_DESK_PORT: '0',
    };
    if (role === 'migrate') {
      expect((await runCli([role], env)).exit).toBe(0);
      continue;
    }
    const started = await startFleetProcess(services[role]?.command?.[0] ?? role, env);
    await until(
      `${role} is ready`,
      async () => (await fetch(new URL('/readyz', started.metrics))).ok,
    ).finally(started.stop);
  }
});
