import { createHash } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { addApplication, webhooksAt } from '#test/support/factories.ts';
import { type TestFleet, useTestFleet } from '#test/support/fleet.ts';
import { type Gate, startGate } from '#test/support/gate.ts';
import { goodDetail, goodRow, idsOf, success } from '#test/support/hostile-application.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';

/** What commands that call webhooks need. */
const OF_CHECKS = {
  ENCRYPTION_KEYS: `test:${createHash('sha256').update('the key of the tests').digest('base64')}`,
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
};

/** What `useRuns` prepares before the first test. */
type World = { fleet: TestFleet; env: Record<string, string>; gate: Gate };

/**
 * A fleet with applications whose runs succeed, wait at a gate, fail, or miss games and pages.
 * @returns `openRun`: opens a run that waits at its first page
 */
export const useRuns = () => {
  const world = { fleet: useTestFleet('postgres') } as World;
  const { fleet } = world;
  const servers: RawServer[] = [];
  beforeAll(async () => {
    const { sql, databaseUrl, prefix } = fleet;
    world.env = { ...asOperator(databaseUrl), QUEUE_PREFIX: prefix, TZ: 'Asia/Kolkata', ...OF_CHECKS };
    const { server } = await fleet.addApplication('acme', 30);
    const gate = await startGate(server.url);
    world.gate = gate;
    await addApplication(sql, 'gated', webhooksAt(gate.url));
    await addApplication(sql, 'closed-port', webhooksAt('http://127.0.0.1:9'));
    const empty = success({ total: 137, list: [] });
    for (const [id, secondPage] of [
      ['incomplete', empty],
      ['unread', '<html>'],
    ] as const) {
      const server = await startRawServer(async (request, response) => {
        const { page_num, game_id } = JSON.parse(Buffer.concat(await request.toArray()).toString());
        if (game_id !== undefined) response.end(success(goodDetail(game_id)));
        else if (page_num === 1) response.end(success({ total: 137, list: idsOf('g', 37).map(goodRow) }));
        else response.end(page_num === 2 ? secondPage : empty);
      });
      servers.push(server);
      await addApplication(sql, id, webhooksAt(server.url));
    }
    await fleet.startWorker();
    for (const id of ['acme', 'closed-port', 'incomplete', 'unread']) await fleet.sync(id);
    const [game] = await sql<{ game_id: string }[]>`select game_id from games limit 1`;
    await decideGame(sql, { game_id: game?.game_id ?? '', audit_status: 'passed' });
  });
  afterAll(async () => {
    for (const each of servers) await each.close();
    await world.gate?.close();
  });
  const openRun = async (): Promise<string> => {
    world.gate.block(() => true);
    const { run_id } = await fleet.startRun('gated');
    await world.gate.blocked(1);
    return run_id;
  };
  return { world, openRun };
};
