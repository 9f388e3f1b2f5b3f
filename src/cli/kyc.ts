import type { Command } from '@commander-js/extra-typings';
import { findKycState, reopenErased } from '#db/queries/kyc.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { formatCount } from '#src/cli/format.ts';
import { parseApplicationId } from '#src/cli/parsers.ts';
import { openProgress } from '#src/cli/progress.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';
import { waitForJobs, warnWithoutWorker } from '#src/cli/wait.ts';
import { EXIT, UsageError } from '#src/errors.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { acceptCpId, eraseKyc } from '#src/kyc/decisions.ts';
import { revealKyc, showKyc } from '#src/kyc/read-record.ts';
import { reseal } from '#src/kyc/reseal.ts';
import type { Foundation } from '#src/roles/foundation.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

/** Adds a pull, unless an operator's pull of this application is in the queue already. */
const requestRecord = async ({ sql, producer }: Foundation, application_id: string) => {
  await reopenErased(sql, application_id);
  return producer.add(queryCpKyc, { application_id }, { once: application_id });
};

const defineShow = (kyc: Command): void => {
  defineCommand(kyc, 'show', {
    summary: 'show the KYC record of an application, masked',
    details:
      'With --reveal the values are shown in clear. The name and the reason are written to the access log first; if that fails, nothing is shown.',
    examples: ['kyc show acme', 'kyc show acme --reveal --by kim --reason "ticket 4711"'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .option('--reveal', 'show the values in clear; requires --by and --reason')
    .option('--by <who>', 'name of the operator who reads the record')
    .option('--reason <why>', 'reason for reading it')
    .action(
      withContext(async ({ config, openDatabase, out }, application_id, { reveal, by, reason }) => {
        if (reveal !== true && (by !== undefined || reason !== undefined))
          throw new UsageError('--by and --reason require --reveal: without it the record is shown masked.');
        if (reveal === true && (by === undefined || reason === undefined))
          throw new UsageError('--reveal requires --by and --reason: both are written to the access log.');
        const keys = await openKeyRing(config);
        const sql = await openDatabase();
        const { record, ...state } = await (by !== undefined && reason !== undefined
          ? revealKyc(sql, keys, application_id, { by, reason })
          : showKyc(sql, keys, application_id));
        out.record({ ...state, record }, { ...state, ...record });
        if (record === null) out.line(`${application_id} has no KYC record.`);
      }),
    );
};

const definePull = (kyc: Command): void => {
  defineCommand(kyc, 'pull', {
    summary: 'pull the KYC record of an application now',
    details:
      'Pulls an erased record again. With --wait: exit 3 if the cp_id has changed and must be accepted.',
    examples: ['kyc pull acme', 'kyc pull acme --wait'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .option('--wait', 'wait for the result')
    .action(
      withContext(async ({ openQueues, out }, application_id, { wait }) => {
        const foundation = await openQueues();
        await requireApplication(foundation.sql, application_id);
        const job = await requestRecord(foundation, application_id);
        if (wait === true) {
          const exitCode = await waitForJobs(foundation, out, queryCpKyc, [job]);
          const current = await findKycState(foundation.sql, application_id);
          return exitCode === EXIT.done && current?.state === 'cp_id_changed' ? EXIT.partial : exitCode;
        }
        await warnWithoutWorker(foundation.sql, out);
        out.answer({ application_id, job: job.id }, `Requested the KYC record of ${application_id}.`);
        return EXIT.done;
      }),
    );
};

const defineAcceptCpId = (kyc: Command): void => {
  defineCommand(kyc, 'accept-cp-id', {
    summary: 'accept a new cp_id of an application',
    details:
      'The new cp_id gets a platform cp_id of its own, and its record is pulled. With --cp-id the command fails if the application has sent yet another cp_id since.',
    examples: ['kyc accept-cp-id acme --by kim --cp-id cp-7041'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .requiredOption('--by <who>', 'name of the operator who accepts it')
    .option('--cp-id <id>', 'cp_id to accept, as kyc show prints it (default: the refused one)')
    .action(
      withContext(async ({ openQueues, out }, application_id, { by, cpId }) => {
        const foundation = await openQueues();
        const { cp_id, application_cp_id } = await acceptCpId(foundation.sql, application_id, by, cpId);
        const job = await requestRecord(foundation, application_id);
        out.answer(
          { application_id, cp_id, application_cp_id, job: job.id },
          `${application_cp_id} of ${application_id} is now ${cp_id}. Requested its KYC record.`,
        );
      }),
    );
};

const defineErase = (kyc: Command): void => {
  defineCommand(kyc, 'erase', {
    summary: 'delete every version of the KYC record of an application',
    details:
      'The access log keeps the name, the time and the reason. Scheduled pulls skip the application until the next kyc pull. Backups keep the record.',
    examples: ['kyc erase acme --by kim --reason "request of 3 May"'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .requiredOption('--by <who>', 'name of the operator who erases it')
    .requiredOption('--reason <why>', 'reason for erasing it')
    .action(
      withContext(async ({ openDatabase, out }, application_id, { by, reason }) => {
        const erased = await eraseKyc(await openDatabase(), application_id, { by, reason });
        out.answer(
          { application_id, erased },
          `Erased ${formatCount(erased, 'version')} of the KYC record of ${application_id}.`,
        );
      }),
    );
};

const defineReseal = (kyc: Command): void => {
  defineCommand(kyc, 'reseal', {
    summary: 'wrap every data key with the first key of ENCRYPTION_KEYS',
    details:
      'Runs while workers run. Records and access tokens do not change, only their data keys are wrapped again. An interrupted reseal resumes at the next call. Exit 0: the other keys can be removed. Exit 3: some data keys could not be opened.',
    examples: ['kyc reseal', 'kyc reseal --json'],
  }).action(
    withContext(async ({ config, openDatabase, out }) => {
      const keys = await openKeyRing(config);
      const sql = await openDatabase();
      const aborter = new AbortController();
      process.once('SIGINT', () => aborter.abort());
      const progress = await openProgress(out, ['reseal'], 'data keys');
      const report = await reseal(sql, keys, {
        signal: aborter.signal,
        onProgress: (done, total) => progress?.update('reseal', done, total),
      }).finally(() => progress?.stop());
      const { rewrapped, key_id, failed } = report;
      const summary = `${formatCount(rewrapped, 'data key')} wrapped again.`;
      if (failed.length === 0) {
        out.answer(report, `${summary} All are wrapped with ${key_id}.`);
        return EXIT.done;
      }
      out.answer(report, `${summary} All are wrapped with ${key_id}, except:`);
      out.table(failed, ['table', 'application_id', 'id', ['why', 'code']]);
      return EXIT.partial;
    }),
  );
};

/** `catalogue kyc …` */
export const register = (program: Command): void => {
  const kyc = program.command('kyc').description(SUMMARIES.kyc);
  definePull(kyc);
  defineShow(kyc);
  defineAcceptCpId(kyc);
  defineErase(kyc);
  defineReseal(kyc);
};
