import type { Command } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { registerVerdicts } from '#src/cli/commands/kyc-verdict.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { APPLICATION, APPROVAL, parseNonEmpty, WAIT } from '#src/cli/kit/parsers.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import { askYesNo, isInteractive } from '#src/cli/kit/prompt.ts';
import { waitForKyc, warnWithoutWorker } from '#src/cli/kit/wait.ts';
import { CatalogueError, EXIT, UsageError } from '#src/errors.ts';
import { revealList } from '#src/lists/audit.ts';
import { developerList, kycVersionList } from '#src/lists/kyc.ts';

/** The `cp_id` to accept: the given one, or the one that an operator on a terminal confirms. */
const confirmCpId = async (
  sql: Database,
  out: Output,
  application_id: string,
  given: string | undefined,
): Promise<string> => {
  if (given !== undefined) return given;
  const waiting = (await findKycState(sql, application_id))?.refused_cp_id ?? null;
  const command = `npx catalogue kyc accept-cp-id ${application_id} --by WHO --cp-id ID`;
  if (waiting === null) throw new CatalogueError(`No other cp_id of ${application_id} waits to be accepted.`);
  if (!isInteractive(out)) {
    throw new UsageError(
      `Name the cp_id that you saw (npx catalogue kyc show ${application_id} prints it): ${command}`,
    );
  }
  out.note(`The cp_id of ${application_id} that waits to be accepted is ${waiting}.`);
  if (await askYesNo(out, 'Accept it?')) return waiting;
  throw new CatalogueError('Nothing was accepted.');
};

/** `catalogue kyc …` */
export const register = (program: Command): void => {
  const kyc = program.command('kyc');

  defineListCommand(kyc, 'list', developerList, {
    summary: 'list the KYC state of every application',
    examples: ['kyc list', 'kyc list --status failed'],
    limit: { max: 100_000, byDefault: 1_000 },
  });

  defineListCommand(kyc, 'versions', kycVersionList, {
    summary: 'list the former versions of a KYC record: when, and which fields changed',
    examples: ['kyc versions acme'],
    limit: { max: 1_000, byDefault: 50 },
  });

  defineListCommand(kyc, 'reveals', revealList, {
    summary: 'list who saw a KYC record in clear, latest first',
    examples: ['kyc reveals', 'kyc reveals acme --actor kim --since 30d'],
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(kyc, 'pull', {
    summary: 'pull the KYC record of an application now',
    details:
      'A record that kyc erase deleted is pulled with --by and --reason only. With --wait: exit 3 if the cp_id has changed and must be accepted.',
    examples: ['kyc pull acme --wait', 'kyc pull acme --by kim --reason "the application requested it"'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .option(...WAIT)
        .option('--by <who>', 'name of the operator who pulls an erased record again', parseNonEmpty)
        .option('--reason <why>', 'reason for pulling an erased record again'),
    run: async ({ openQueues, operate, out }, application_id, { wait, by, reason }) => {
      if (reason !== undefined && by === undefined)
        throw new UsageError('--reason requires --by: both are written to the audit log.');
      const foundation = await openQueues();
      const { pullKycRecord } = await import('#src/operations/kyc.ts');
      await operate(pullKycRecord, { application_id, reason }, { by });
      if (wait !== true) {
        await warnWithoutWorker(foundation.sql, out);
        out.answer({ application_id }, `Requested the KYC record of ${application_id}.`);
        return EXIT.done;
      }
      const [pulled] = await waitForKyc(foundation, out, [application_id]);
      const { state = 'pending', reason: why = null } = pulled ?? {};
      const line = why === null ? `${application_id}: ${state}.` : `${application_id}: ${state}, ${why}.`;
      out.answer({ application_id, state, ...(why === null ? {} : { reason: why }) }, line);
      if (state === 'failed') {
        out.note(`npx catalogue failure list ${application_id} tells more.`);
        return EXIT.failed;
      }
      if (state !== 'cp_id_changed') return EXIT.done;
      out.note(
        `npx catalogue kyc show ${application_id} shows the other cp_id; kyc accept-cp-id accepts it.`,
      );
      return EXIT.partial;
    },
  });

  defineCommand(kyc, 'show', {
    summary: 'show the KYC record of an application, masked',
    details:
      'With --reveal the values are shown in clear, after the name and the reason are written to the access log and the audit log.',
    examples: ['kyc show acme', 'kyc show acme --reveal --by kim --reason "ticket 4711"'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .option('--reveal', 'show the values in clear; requires --by and --reason')
        .option('--by <who>', 'name of the operator who reads the record', parseNonEmpty)
        .option('--reason <why>', 'reason for reading it')
        .option(...APPROVAL),
    run: async (
      { openDatabase, openKeys, operate, out },
      application_id,
      { reveal, by, reason, approval: approval_id },
    ) => {
      if (reveal !== true && (by ?? reason ?? approval_id) !== undefined)
        throw new UsageError(
          '--by, --reason and --approval require --reveal: without it the record is shown masked.',
        );
      if (reveal === true && (by === undefined || reason === undefined))
        throw new UsageError('--reveal requires --by and --reason: both are written to the access log.');
      const show = async () => {
        const { showKyc } = await import('#src/kyc/read-record.ts');
        return showKyc(await openDatabase(), await openKeys(), application_id);
      };
      const revealNow = async () => {
        const { revealKycRecord } = await import('#src/operations/kyc.ts');
        return operate(revealKycRecord, { application_id, reason, approval_id }, { by });
      };
      const { record, ...state } = await (reveal === true ? revealNow() : show());
      out.record({ ...state, record }, { ...state, ...record });
      if (record === null) out.line(`${application_id} has no KYC record.`);
      if (record !== null && state.record_cp_id !== state.application_cp_id)
        out.line(
          `record_cp_id: the record is of this former cp_id. That of ${state.application_cp_id} is not stored yet.`,
        );
      if (state.refused_cp_id !== null)
        out.line(
          `refused_cp_id: the application now sends this cp_id. Accept it: npx catalogue kyc accept-cp-id ${application_id} --by WHO`,
        );
      if (state.same_tax_id.length > 0)
        out.line('same_tax_id: other applications whose records have the same tax_id.');
    },
  });

  defineCommand(kyc, 'accept-cp-id', {
    summary: 'accept a new cp_id of an application',
    details:
      'The new cp_id gets its own platform cp_id, and its record is pulled. Without --cp-id, the command shows the cp_id that waits and asks; without a terminal it is refused.',
    examples: ['kyc accept-cp-id acme --by kim --cp-id cp-7041'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .requiredOption('--by <who>', 'name of the operator who accepts it', parseNonEmpty)
        .option('--cp-id <id>', 'cp_id to accept, as kyc show prints it')
        .option(...APPROVAL),
    run: async ({ openDatabase, operate, out }, application_id, { by, cpId, approval: approval_id }) => {
      const { acceptCpId } = await import('#src/operations/kyc.ts');
      const seen = await confirmCpId(await openDatabase(), out, application_id, cpId);
      const accepted = await operate(acceptCpId, { application_id, cp_id: seen, approval_id }, { by });
      const { cp_id, application_cp_id } = accepted;
      const done = `${application_cp_id} of ${application_id} is now ${cp_id}. Requested its KYC record.`;
      out.answer(accepted, done);
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
        .requiredOption('--by <who>', 'name of the operator who erases it', parseNonEmpty)
        .requiredOption('--reason <why>', 'reason for erasing it')
        .option(...APPROVAL),
    run: async ({ operate, out }, application_id, { by, reason, approval: approval_id }) => {
      const { eraseKycRecord } = await import('#src/operations/kyc.ts');
      const { versions } = await operate(eraseKycRecord, { application_id, reason, approval_id }, { by });
      const erased = formatCount(versions, 'version');
      out.answer(
        { application_id, erased: versions },
        `Erased ${erased} of the KYC record of ${application_id}.`,
      );
    },
  });

  registerVerdicts(kyc);

  defineCommand(kyc, 'reseal', {
    summary: 'wrap every data key with the first key of ENCRYPTION_KEYS',
    details:
      'Workers can keep running. Only the data keys are wrapped again. An interrupted reseal resumes at the next call. Exit 0: the other keys can be removed. Exit 3: some data keys could not be opened.',
    examples: ['kyc reseal'],
    run: async ({ operate, out }) => {
      const { resealKeys } = await import('#src/operations/reseal.ts');
      const aborter = new AbortController();
      process.once('SIGINT', () => aborter.abort());
      const progress = openProgress(out, ['reseal'], 'data keys');
      const following = {
        signal: aborter.signal,
        onProgress: (done: number, total: number) => progress?.update('reseal', done, total),
      };
      const report = await operate(resealKeys, {}, following).finally(() => progress?.stop());
      const { rewrapped, key_id, failed } = report;
      const summary = `${formatCount(rewrapped, 'data key')} wrapped again. All are wrapped with ${key_id}`;
      out.answer(report, failed.length === 0 ? `${summary}.` : `${summary}, except:`);
      if (failed.length === 0) return EXIT.done;
      out.table(failed, ['table', 'application_id', 'id', ['why', 'code']]);
      return EXIT.partial;
    },
  });
};
