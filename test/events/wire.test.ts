// What a receiver of events may send around the body of its answer, and how much of that body is read.
import { expect, it, onTestFinished } from 'vitest';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { aReceiver, aSender, withEvents } from '#test/support/events.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const END = '0\r\n\r\n';
const KIB = 1_024;

const lastError = async (application_id: string) => {
  const [row] = await database.sql<{ last_error: string | null }[]>`
    select last_error from event_deliveries where application_id = ${application_id}`;
  return row?.last_error;
};

it('an answer with much around its body has failed, because each event would cost the worker its time', async () => {
  const answer = `${CHUNKED}${`1;${'x'.repeat(10_000)}\r\nx\r\n`.repeat(20)}${END}`;
  const server = await startRawTcpServer((socket) => void socket.on('data', () => socket.write(answer)));
  onTestFinished(server.close);
  const { application_id } = await withEvents(database.sql, server.url);
  expect(await aSender(database.sql).deliverNow(application_id)).toEqual({ delivered: 0, failed: 1 });
  expect(await lastError(application_id)).toBe('body_too_large');
});

it('a body of pieces of one byte is read up to 4 KiB, and the event is delivered', async () => {
  let wasCut = false;
  const server = await startRawTcpServer((socket) => {
    socket.once('data', () => socket.write(`${CHUNKED}${'1\r\nx\r\n'.repeat(4 * KIB + 1)}`));
    socket.once('close', () => {
      wasCut = true;
    });
  });
  onTestFinished(server.close);
  const { application_id } = await withEvents(database.sql, server.url);
  expect(await aSender(database.sql).deliverNow(application_id)).toEqual({ delivered: 1, failed: 0 });
  await expect.poll(() => wasCut).toBe(true);
});

it('an event is delivered to a receiver that answers with a large page', async () => {
  const { url } = await aReceiver((response) => response.end('x'.repeat(1_024 * KIB)));
  const { application_id } = await withEvents(database.sql, url);
  expect(await aSender(database.sql).deliverNow(application_id)).toEqual({ delivered: 1, failed: 0 });
});
