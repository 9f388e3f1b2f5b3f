import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordHeartbeat } from '#db/queries/workers.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { waitForResult } from '#src/cli/kit/wait.ts';
import type { Foundation } from '#src/roles/foundation.ts';
import { startTestFleet } from '#test/support/fleet.ts';

test('a command that waits says so when the last worker stops', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const { sql } = fleet;
  await recordHeartbeat(sql, { worker_id: randomUUID(), host: 'host', pid: 1 });
  const notes: string[] = [];
  let polls = 0;
  const poll = async () => {
    polls += 1;
    if (polls === 2) await sql`update workers set seen_at = now() - interval '1 minute'`;
    return notes.length > 0 ? 'noted' : undefined;
  };
  const out = { note: (line: string) => void notes.push(line) } as unknown as Output;
  await waitForResult(fleet as unknown as Foundation, out, poll, { timeoutMs: 25_000, hint: '' });
  expect(notes).toEqual([expect.stringMatching(/^No worker takes jobs: /)]);
});
