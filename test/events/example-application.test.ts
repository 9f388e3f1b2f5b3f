import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '#src/embedded/free-port.ts';
import { aSender, giveAddress, withEvents } from '#test/support/events.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();

test('the example of the guide receives and verifies events, and refuses what the platform did not sign', async () => {
  const { sql } = database;
  const url = `http://127.0.0.1:${await findFreePort()}/events`;
  const { application_id, games } = await withEvents(sql, url, 1);
  const text = 'Ends too soon.';
  const game_id = games[0]?.game_id ?? '';
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'incomplete', text });
  const secret = await giveAddress(sql, application_id, url);
  const example = spawn(process.execPath, ['docs/example-application.ts'], {
    env: { PATH: process.env.PATH, ACCESS_TOKEN: 'token', EVENTS_SECRET: secret, PORT: new URL(url).port },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void example.kill());
  let said = '';
  example.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await Promise.race([once(example, 'exit'), until('the example listens', () => said.includes('listens'))]);
  expect(await aSender(sql).deliverNow(application_id)).toEqual({ delivered: 2, failed: 0 });
  await until(
    'both events are received',
    () => said.includes('game.passed g-0') && said.includes('game.rejected g-0'),
  );
  expect(said).toContain(`game.rejected g-0 (${game_id}): ${text}`);
  const headers = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
  for (const signature of [{}, { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }]) {
    const forged = await fetch(url, { method: 'POST', headers: { ...headers, ...signature }, body: '{}' });
    expect(forged.status).toBe(401);
  }
});
