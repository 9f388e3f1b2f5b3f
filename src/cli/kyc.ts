import type { Command } from '@commander-js/extra-typings';
import { findKycState, reopenErased } from '#db/queries/kyc.ts';
import { defineCommand } from '#src/cli/command.ts';
import { formatCount } from '#src/cli/format.ts';
import { APPLICATION, WAIT } from '#src/cli/parsers.ts';
import { openProgress } from '#src/cli/progress.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { waitForJobs, warnWithoutWorker } from '#src/cli/wait.ts';
import { EXIT, UsageError } from '#src/errors.ts';
import type { Foundation } from '#src/roles/foundation.ts';

/** Adds a job that pulls the record, unless the queue already has one for this application. */
const requestRecord = async ({ sql, producer }: Foundation, application_id: string) => {
  const { queryCpKyc } = await import('#src/ingest/specs.ts');
  await reopenErased(sql, application_id);
  const job = await producer.add(queryCpKyc, { application_id }, { once: application_id });
  return { job, spec: queryCpKyc };
};

/** `catalogue kyc …` */
export const register = (program: Command): void => {
  const kyc = program.command('kyc');

  defineCommand(kyc, 'pull', {
    summary: 'pull the KYC record of an application now',
    details:
      'Also pulls a record that kyc erase deleted. With --wait: exit 3 if the cp_id has changed and must be accepted.',
    examples: ['kyc pull acme', 'kyc pull acme --wait'],
    parameters: (command) => command.argument(...APPLICATION).option(...WAIT),
    run: async ({ openQueues, out }, application_id, { wait }) => {
      const foundation = await openQueues();
      const { sql } = foundation;
      await requireApplication(sql, application_id);
      const { job, spec } = await requestRecord(foundation, application_id);
      if (wait === true) {
        const exitCode = await waitForJobs(foundation, out, spec, [job]);
        const current = await findKycState(sql, application_id);
        return exitCode === EXIT.done && current?.state === 'cp_id_changed' ? EXIT.partial : exitCode;
      }
      await warnWithoutWorker(sql, out);
      out.answer({ application_id, job: job.id }, `Requested the KYC record of ${application_id}.`);
      return EXIT.done;
    },
  });

  defineCommand(kyc, 'show', {
    summary: 'show the KYC record of an application, masked',
    details:
      'With --reveal the values are shown in clear, after the name and the reason are written to the access log.',
    examples: ['kyc show acme', 'kyc show acme --reveal --by kim --reason "ticket 4711"'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .option('--reveal', 'show the values in clear; requires --by and --reason')
        .option('--by <who>', 'name of the operator who reads the record')
        .option('--reason <why>', 'reason for reading it'),
    run: async ({ openDatabase, openKeys, out }, application_id, { reveal, by, reason }) => {
      if (reveal !== true && (by !== undefined || reason !== undefined))
        throw new UsageError('--by and --reason require --reveal: without it the record is shown masked.');
      if (reveal === true && (by === undefined || reason === undefined))
        throw new UsageError('--reveal requires --by and --reason: both are written to the access log.');
      const { revealKyc, showKyc } = await import('#src/kyc/read-record.ts');
      const keys = await openKeys();
      const sql = await openDatabase();
      const { record, ...state } = await (by !== undefined && reason !== undefined
        ? revealKyc(sql, keys, application_id, { by, reason })
        : showKyc(sql, keys, application_id));
      out.record({ ...state, record }, { ...state, ...record });
      if (record === null) out.line(`${application_id} has no KYC record.`);
    },
  });

  defineCommand(kyc, 'accept-cp-id', {
    summary: 'accept a new cp_id of an application',
    details:
      'The new cp_id gets its own platform cp_id, and its record is pulled. With --cp-id, the command fails if the cp_id that waits to be accepted is another one.',
    examples: ['kyc accept-cp-id acme --by kim --cp-id cp-7041'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .requiredOption('--by <who>', 'name of the operator who accepts it')
        .option(
          '--cp-id <id>',
          'cp_id to accept, as kyc show prints it (default: the one that waits to be accepted)',
        ),
    run: async ({ openQueues, out }, application_id, { by, cpId }) => {
      const { acceptCpId } = await import('#src/kyc/decisions.ts');
      const foundation = await openQueues();
      const { cp_id, application_cp_id } = await acceptCpId(foundation.sql, application_id, by, cpId);
      const { job } = await requestRecord(foundation, application_id);
      out.answer(
        { application_id, cp_id, application_cp_id, job: job.id },
        `${application_cp_id} of ${application_id} is now ${cp_id}. Requested its KYC record.`,
      );
    },
  });

  defineCommand(kyc, 'erase', {
    summary: 'delete every version of the KYC record of an application',
    details:
      'The access log keeps the name, the time and the reason. Scheduled pulls skip the application until the next kyc pull. Backups keep the record.',
    examples: ['kyc erase acme --by kim --reason "request of 3 May"'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .requiredOption('--by <who>', 'name of the operator who erases it')
        .requiredOption('--reason <why>', 'reason for erasing it'),
    run: async ({ openDatabase, out }, application_id, { by, reason }) => {
      const { eraseKyc } = await import('#src/kyc/decisions.ts');
      const erased = await eraseKyc(await openDatabase(), application_id, { by, reason });
      const versions = formatCount(erased, 'version');
      out.answer({ application_id, erased }, `Erased ${versions} of the KYC record of ${application_id}.`);
    },
  });

  defineCommand(kyc, 'reseal', {
    summary: 'wrap every data key with the first key of ENCRYPTION_KEYS',
    details:
      'Workers can keep running. Records and access tokens do not change, only their data keys are wrapped again. An interrupted reseal resumes at the next call. Exit 0: the other keys can be removed. Exit 3: some data keys could not be opened.',
    examples: ['kyc reseal', 'kyc reseal --json'],
    run: async ({ openDatabase, openKeys, out }) => {
      const { reseal } = await import('#src/kyc/reseal.ts');
      const keys = await openKeys();
      const sql = await openDatabase();
      const aborter = new AbortController();
      process.once('SIGINT', () => aborter.abort());
      const progress = await openProgress(out, ['reseal'], 'data keys');
      const report = await reseal(sql, keys, {
        signal: aborter.signal,
        onProgress: (done, total) => progress?.update('reseal', done, total),
      }).finally(() => progress?.stop());
      const { rewrapped, key_id, failed } = report;
      const summary = `${formatCount(rewrapped, 'data key')} wrapped again. All are wrapped with ${key_id}`;
      out.answer(report, failed.length === 0 ? `${summary}.` : `${summary}, except:`);
      if (failed.length === 0) return EXIT.done;
      out.table(failed, ['table', 'application_id', 'id', ['why', 'code']]);
      return EXIT.partial;
    },
  });
};
