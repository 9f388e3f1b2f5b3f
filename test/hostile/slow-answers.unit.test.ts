import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { MEMORY } from '#src/rules/budgets.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { until } from '#test/support/until.ts';
import { envelope, live, loopback, respondWith, targetAt } from '#test/support/webhooks.ts';

const PAGE = { page_num: 1, page_size: 100 };
const LARGE = 'x'.repeat(2 * MEMORY.ordinaryBytes);
/** As many as fill the memory for large answers. */
const HOSTILE = MEMORY.readingBytes / MEMORY.readingBytesOfOne;

/** A server that sends more than an ordinary answer at once, and the rest never. */
const startHanging = async (): Promise<string> => {
  const server = createServer((_, response) => void response.write(LARGE));
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
};

test('applications that never end their large answers do not keep others from reading theirs', async () => {
  const hanging = await startHanging();
  const healthy = await respondWith(envelope({ total: 0, list: [], extra: LARGE }));
  const memory = createAnswerMemory({ ...MEMORY, slowMs: 0 });
  let admitted = 0;
  const counting: typeof memory = {
    ...memory,
    createAdmission: (...given) => {
      const admission = memory.createAdmission(...given);
      const admit: typeof admission.admit = async (signal) => {
        await admission.admit(signal);
        admitted += 1;
      };
      return { ...admission, admit };
    },
  };
  const client = createWebhookClient({ egress: loopback, memory: counting });
  onTestFinished(client.close);
  const callHostile = (signal: AbortSignal) =>
    Promise.allSettled(
      Array.from({ length: HOSTILE }, (_, index) =>
        client.queryGameList({ ...targetAt(hanging), application_id: `hostile-${index}` }, PAGE, signal),
      ),
    );
  const first = new AbortController();
  const over = callHostile(first.signal);
  await until('the hostile have taken all of the memory', () => admitted === HOSTILE);
  first.abort();
  await over;

  const second = new AbortController();
  const again = callHostile(second.signal);
  await until('they have taken what they may', () => admitted === HOSTILE * 1.5);
  const target = { ...targetAt(healthy.url), application_id: 'healthy' };
  expect(await client.queryGameList(target, PAGE, live())).toMatchObject({ total: 0 });
  second.abort();
  await again;
});
