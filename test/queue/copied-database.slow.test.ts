import { expect, inject, test } from 'vitest';
import { startCli } from '#test/support/cli.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

test.skipIf(inject('redisUrl') === null)(
  'beside the fleet of its original, the processes of a copied database take no job of their common queue',
  async () => {
    await using stack = new AsyncDisposableStack();
    const original = await startTestFleet('redis');
    stack.defer(original.stop);
    const copy = await startTestFleet('redis');
    stack.defer(copy.stop);
    const { prefix, redisUrl = '' } = original;
    const start = (command: string, { databaseUrl }: typeof original) => {
      const place = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix };
      const { kill, done, output } = startCli([command], { ...place, METRICS_PORT: '0' });
      const end = async (signal: NodeJS.Signals = 'SIGKILL') => {
        kill(signal);
        await done;
      };
      stack.defer(() => end());
      return { end, says: (text: string) => until(text, () => output().stderr.includes(text)), output };
    };
    const worker = start('worker', original);
    await worker.says('worker ready');
    const copies = [start('worker', copy), start('media', copy)];
    for (const process of copies) {
      await process.says('Processes of another database take jobs from this queue');
      expect(process.output().stderr).not.toContain('ready');
    }
    // The last worker of the original ends its claim.
    await worker.end('SIGTERM');
    for (const process of copies) await process.says('ready');
  },
);
