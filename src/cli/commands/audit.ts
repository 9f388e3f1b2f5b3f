import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { verifyAudit } from '#db/verify-audit.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { EXIT } from '#src/errors.ts';
import { auditList } from '#src/lists/audit.ts';

const parseAnchor = (text: string): { entry_id: number; hash: string } => {
  const [, entry_id, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (entry_id !== undefined && hash !== undefined) return { entry_id: Number(entry_id), hash };
  throw new InvalidArgumentError('Give the entry and its hash as audit verify prints them: 120:9f2c….');
};

const PROBLEMS = {
  changed: 'was changed',
  removed: 'was removed',
  inserted: 'was inserted later',
  rewritten: 'and the entries before it were rewritten',
};

/** `catalogue audit …` */
export const register = (program: Command): void => {
  const audit = program.command('audit');

  defineListCommand(audit, 'list', auditList, {
    summary: 'list the audit log, latest first',
    examples: [
      'audit list',
      'audit list --actor kim --action game.pass',
      'audit list --action reveal --since 24h',
      'audit list --subject application:acme --json',
    ],
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(audit, 'verify', {
    summary: 'verify the chain of the audit log',
    details:
      'Exit 1 if an entry was changed, removed or inserted; it names the first. Keep the printed head outside the database: with --head, the next verification also finds a log that was rewritten as a whole.',
    examples: ['audit verify', 'audit verify --json', 'audit verify --head 120:9f2c…'],
    parameters: (command) =>
      command.option('--head <entry:hash>', 'a head that an earlier verification printed', parseAnchor),
    run: async ({ openDatabase, out }, { head }) => {
      const verdict = await verifyAudit(await openDatabase(), head);
      const { broken, entries } = verdict;
      out.document({ ...verdict, intact: broken === null });
      if (broken !== null) {
        out.error(`Entry ${broken.entry_id} of the audit log ${PROBLEMS[broken.problem]}.`);
        return EXIT.failed;
      }
      out.line(`The audit log is intact: ${entries} entries, head ${entries}:${verdict.head}`);
      return EXIT.done;
    },
  });
};
