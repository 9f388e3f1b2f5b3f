import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { type AuditRow, listAuditPage } from '#db/queries/audit.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { parseNonEmpty, SINCE, UNTIL } from '#src/cli/kit/parsers.ts';
import { AUDIT_ACTIONS, AUDIT_SUBJECTS, describeActorKind } from '#src/contract/audit.ts';
import { EXIT } from '#src/errors.ts';

const parseSubject = (text: string): string => {
  if (AUDIT_SUBJECTS.some((kind) => text.startsWith(`${kind}:`) && text.length > kind.length + 1))
    return text;
  throw new InvalidArgumentError(
    `Give it as audit list prints it, such as application:acme. Kinds: ${AUDIT_SUBJECTS.join(', ')}.`,
  );
};

/** @returns the actions of this name: one, or without its subject every `<subject>.<verb>` */
const parseAction = (text: string): string[] => {
  const name = text.trim();
  const found = AUDIT_ACTIONS.filter((action) => action === name || action.endsWith(`.${name}`));
  if (found.length > 0) return found;
  throw new InvalidArgumentError(`There is no such action. Actions: ${AUDIT_ACTIONS.join(', ')}.`);
};

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

const formatActor = (entry: AuditRow): string => {
  const kind = describeActorKind(entry);
  return kind === null ? entry.actor : `${entry.actor} (${kind})`;
};

/** `catalogue audit …` */
export const register = (program: Command): void => {
  const audit = program.command('audit');

  defineList(audit, 'list', {
    summary: 'list the audit log, latest first',
    examples: [
      'audit list',
      'audit list --actor kim --action game.pass',
      'audit list --action reveal --since 24h',
      'audit list --subject application:acme --json',
    ],
    parameters: (command) =>
      command
        .option('--actor <who>', 'only of this person', parseNonEmpty)
        .option(
          '--action <action>',
          'only this action, such as game.pass, or pass for every subject',
          parseAction,
        )
        .option('--subject <subject>', 'only of this subject, such as application:acme', parseSubject)
        .option(...SINCE)
        .option(...UNTIL),
    order: '-entry_id',
    limit: { max: 10_000, byDefault: 100 },
    filter: ({ actor, action, subject, since, until }) => ({ actor, action, subject, since, until }),
    list: listAuditPage,
    key: 'entries',
    toDocument: ({ previous_hash: _previous, hash, ...entry }) => ({
      ...entry,
      hash: Buffer.from(hash).toString('hex'),
    }),
    columns: ['entry_id', 'at', ['who', formatActor], 'action', 'subject', 'reason'],
    empty: 'No entries.',
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
