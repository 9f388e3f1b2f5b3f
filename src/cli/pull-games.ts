import { formatCount } from '#src/cli/format.ts';
import type { Output } from '#src/cli/output.ts';
import { waitForJobs, warnWithoutWorker } from '#src/cli/wait.ts';
import { EXIT, type ExitCode } from '#src/errors.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import type { Foundation } from '#src/roles/foundation.ts';

/**
 * Adds jobs that pull these games, 100 a job. The jobs run one after another: each paces only its own calls, and the
 * application's rate must hold for all (design, section 4, step 4). @returns the exit code
 */
export const pullGames = async (
  foundation: Foundation,
  out: Output,
  application_id: string,
  application_game_ids: readonly string[],
  { wait }: { wait: true | undefined },
): Promise<ExitCode> => {
  const ids = [...new Set(application_game_ids)];
  const payloads = [];
  for (let start = 0; start < ids.length; start += PULL_MAX)
    payloads.push({ application_id, application_game_ids: ids.slice(start, start + PULL_MAX) });
  const jobs = await foundation.producer.addInTurn(pullGameDetail, payloads);
  if (wait === true) return waitForJobs(foundation, out, pullGameDetail, jobs);
  await warnWithoutWorker(foundation.sql, out);
  out.answer(
    { application_id, games: ids.length, jobs: jobs.map((job) => job.id) },
    `Requested ${formatCount(ids.length, 'game')} of ${application_id}.`,
  );
  return EXIT.done;
};
