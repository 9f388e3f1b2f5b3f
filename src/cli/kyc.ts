import type { Command } from 'commander';
import { findKycState, reopenErased } from '#db/queries/kyc.ts';
import { requireApplication, withDatabase, withFoundation } from '#src/cli/connect.ts';
import { act, type CommandContext, defineCommand } from '#src/cli/frame.ts';
import { applicationId, formatMoment } from '#src/cli/values.ts';
import { awaitJobs } from '#src/cli/wait-jobs.ts';
import { warnWithoutWorker } from '#src/cli/wait-runs.ts';
import { EXIT, UsageError } from '#src/errors.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { acceptCpId, eraseKyc } from '#src/kyc/decisions.ts';
import { type KycView, revealKyc, showKyc } from '#src/kyc/read-record.ts';
import { reseal } from '#src/kyc/reseal.ts';
import type { Foundation } from '#src/roles/foundation.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

const keysOf = ({ config }: CommandContext) => openKeyRing(config);

/** An operator's pull: at most one a time for each application, and one that is under way will do. */
const askNow = async ({ sql, producer }: Foundation, application_id: string) => {
  await reopenErased(sql, application_id);
  return producer.add(queryCpKyc, { application_id }, { once: application_id });
};

const printView = ({ out }: CommandContext, { record, ...view }: KycView): void => {
  out.document({ ...view, record });
  const shown = (value: unknown) => (value instanceof Date ? formatMoment(value) : String(value ?? ''));
  out.table(Object.entries({ ...view, ...record }), [
    { header: 'field', value: ([field]) => field },
    { header: 'value', value: ([, value]) => shown(value) },
  ]);
  if (record === null) out.line(`No record of ${view.application_id} is kept.`);
};

const registerPull = (kyc: Command): void => {
  const pull = defineCommand(kyc, 'pull', {
    summary: "pull a developer's record now",
    details:
      'A record that was erased is taken up again. With --wait: exit 3 when the cp_id has changed and waits to be accepted.',
    examples: ['kyc pull acme', 'kyc pull acme --wait'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .option('--wait', 'wait for the answer');
  act<[string], { json?: boolean; wait?: boolean }>(pull, (context, options, application_id) =>
    withFoundation(context, async (foundation) => {
      await requireApplication(foundation.sql, application_id);
      const job = await askNow(foundation, application_id);
      if (options.wait === true) {
        const exit = await awaitJobs(foundation, queryCpKyc, [job], context.out);
        const now = await findKycState(foundation.sql, application_id);
        return exit === EXIT.done && now?.state === 'cp_id_changed' ? EXIT.partial : exit;
      }
      await warnWithoutWorker(foundation.sql, context.out);
      context.out.document({ application_id, job: job.id });
      context.out.line(`Asked for the record of ${application_id}.`);
      return EXIT.done;
    }),
  );
};

const registerShow = (kyc: Command): void => {
  const show = defineCommand(kyc, 'show', {
    summary: "show a developer's record, masked",
    details:
      'With --reveal in clear: who and why is written to the log first, and nothing is shown if it cannot be.',
    examples: ['kyc show acme', 'kyc show acme --reveal --by kim --reason "ticket 4711"'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .option('--reveal', 'show it in clear; needs --by and --reason')
    .option('--by <who>', 'who looks')
    .option('--reason <why>', 'why');
  type Options = { json?: boolean; reveal?: boolean; by?: string; reason?: string };
  act<[string], Options>(show, async (context, { reveal, by, reason }, application_id) => {
    if (reveal !== true && (by !== undefined || reason !== undefined)) {
      throw new UsageError('--by and --reason go with --reveal: without it the record is shown masked.');
    }
    if (reveal === true && (by === undefined || reason === undefined)) {
      throw new UsageError('--reveal needs --by and --reason: both are kept in the log.');
    }
    const keys = await keysOf(context);
    const view = await withDatabase(context, (sql) =>
      reveal === true
        ? revealKyc(sql, keys, application_id, { by: by ?? '', reason: reason ?? '' })
        : showKyc(sql, keys, application_id),
    );
    printView(context, view);
    return undefined;
  });
};

const registerDecisions = (kyc: Command): void => {
  const accept = defineCommand(kyc, 'accept-cp-id', {
    summary: 'accept that an application names another cp_id',
    details:
      'The new cp_id gets a platform cp_id of its own, and its record is pulled. With --cp-id it is refused if the application has named yet another since you looked.',
    examples: ['kyc accept-cp-id acme --by kim --cp-id cp-7041'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .requiredOption('--by <who>', 'who accepts it')
    .option('--cp-id <id>', 'the cp_id that is accepted, as kyc show has it (default: the one that waits)');
  type Options = { json?: boolean; by: string; cpId?: string };
  act<[string], Options>(accept, (context, { by, cpId }, application_id) =>
    withFoundation(context, async (foundation) => {
      const { cp_id, application_cp_id } = await acceptCpId(foundation.sql, application_id, by, cpId);
      const job = await askNow(foundation, application_id);
      context.out.document({ application_id, cp_id, application_cp_id, job: job.id });
      context.out.line(
        `${application_cp_id} of ${application_id} is ${cp_id} now; its record was asked for.`,
      );
      return undefined;
    }),
  );

  const erase = defineCommand(kyc, 'erase', {
    summary: "delete every version of a developer's record",
    details:
      'Who, when and why stay in the log. Scheduled pulls leave the application alone until kyc pull asks anew. Backups keep what they have.',
    examples: ['kyc erase acme --by kim --reason "request of 3 May"'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .requiredOption('--by <who>', 'who erases it')
    .requiredOption('--reason <why>', 'why');
  act<[string], { json?: boolean; by: string; reason: string }>(
    erase,
    async (context, options, application_id) => {
      const { by, reason } = options;
      const versions = await withDatabase(context, (sql) => eraseKyc(sql, application_id, { by, reason }));
      context.out.document({ application_id, erased: versions });
      context.out.line(
        `Erased ${versions} ${versions === 1 ? 'version' : 'versions'} of the record of ${application_id}.`,
      );
      return undefined;
    },
  );
};

const registerReseal = (kyc: Command): void => {
  const command = defineCommand(kyc, 'reseal', {
    summary: 'wrap every data key by the first key of ENCRYPTION_KEYS',
    details:
      'Records and access tokens stay as they are: only their data keys are wrapped anew, while workers run. Run again after an interruption it goes on. Exit 0: the other keys can go. Exit 3: some did not open.',
    examples: ['kyc reseal', 'kyc reseal --json'],
  });
  act<[], { json?: boolean }>(command, async (context) => {
    const { out } = context;
    const keys = await keysOf(context);
    const aborter = new AbortController();
    process.once('SIGINT', () => aborter.abort());
    const progress = await openProgress();
    try {
      const report = await withDatabase(context, (sql) =>
        reseal(sql, keys, { signal: aborter.signal, onProgress: progress.update }),
      );
      progress.stop();
      out.document(report);
      out.line(
        `${report.rewrapped} data keys wrapped anew; all are under ${report.key_id}${report.failed.length > 0 ? ' but these:' : '.'}`,
      );
      if (report.failed.length === 0) return EXIT.done;
      out.table(report.failed, [
        { header: 'table', value: (row) => row.table },
        { header: 'application_id', value: (row) => row.application_id ?? '' },
        { header: 'id', value: (row) => row.id },
        { header: 'why', value: (row) => row.code },
      ]);
      return EXIT.partial;
    } finally {
      progress.stop();
    }
  });
};

/** A bar on a terminal, nothing elsewhere. */
const openProgress = async (): Promise<{
  update: (done: number, total: number) => void;
  stop: () => void;
}> => {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar(
    { format: 'reseal {bar} {value}/{total}', stream: process.stderr, clearOnComplete: true },
    cliProgress.Presets.shades_classic,
  );
  bar.start(0, 0);
  return {
    update: (done, total) => {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
};

/** `catalogue kyc …` */
export const register = (program: Command): void => {
  const kyc = program.command('kyc').description("Developers' KYC records: pull, show, decide, re-seal.");
  registerPull(kyc);
  registerShow(kyc);
  registerDecisions(kyc);
  registerReseal(kyc);
};
