import type { Command } from 'commander';
import { Option } from 'commander';
import type { Database } from '#db/client.ts';
import { recountGames } from '#db/queries/api-games.ts';
import {
  decideGame,
  findGame,
  type GameRow,
  listAudits,
  listGames,
  listRevisions,
} from '#db/queries/games.ts';
import { listOf, withDatabase } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { applicationId, formatMoment, integer, uuid } from '#src/cli/values.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { CatalogueError, EXIT, UsageError } from '#src/errors.ts';
import { requireWord } from '#src/kyc/accountable.ts';

const requireGame = async (sql: Database, game_id: string): Promise<GameRow> => {
  const game = await findGame(sql, game_id);
  if (game !== undefined) return game;
  throw new UsageError(`There is no game ${game_id}: npx catalogue game list shows those there are.`);
};

/** A game as the command line shows it: the fields of section 2.3, and where it came from. */
const shown = ({ content_hash: _content, list_hash: _list, ...game }: GameRow) => game;

type DecideOptions = { json?: boolean; by: string; reason?: string; revision?: number };

/** `catalogue game …` */
export const register = (program: Command): void => {
  const game = program.command('game').description('Review games.');

  const list = defineCommand(game, 'list', {
    summary: 'list games',
    examples: ['game list --status pending', 'game list --application acme --limit 500 --json'],
  })
    .addOption(new Option('--status <status>', 'only games of this audit_status').choices(AUDIT_STATUSES))
    .option('--application <application_id>', 'only games of this application', applicationId)
    .option('--limit <games>', 'how many (default 50)', integer({ min: 1, max: 100_000 }));
  type ListOptions = { json?: boolean; status?: AuditStatus; application?: string; limit?: number };
  act<[], ListOptions>(list, async (context, options) => {
    const filter = {
      audit_status: options.status,
      application_id: options.application,
      limit: options.limit ?? 50,
    };
    const games = await withDatabase(context, (sql) =>
      listOf(sql, options.application, listGames(sql, filter)),
    );
    context.out.document({ games });
    if (games.length === 0) context.out.line('No game.');
    else {
      context.out.table(games, [
        { header: 'game_id', value: (row) => row.game_id },
        { header: 'application', value: (row) => row.application_id },
        { header: 'their id', value: (row) => row.application_game_id },
        { header: 'game_name', value: (row) => row.game_name.slice(0, 40) },
        { header: 'audit_status', value: (row) => row.audit_status },
        { header: 'rev', value: (row) => row.revision, right: true },
        { header: '', value: (row) => (row.withdrawn_at === null ? '' : 'withdrawn') },
      ]);
    }
    return undefined;
  });

  const show = defineCommand(game, 'show', {
    summary: 'show one game, with every revision and decision',
    examples: ['game show 019a…'],
  }).argument('<game_id>', 'the game', uuid);
  act<[string], { json?: boolean }>(show, async (context, _options, game_id) => {
    const [row, revisions, audits] = await withDatabase(context, async (sql) => {
      const found = await requireGame(sql, game_id);
      return [found, await listRevisions(sql, game_id), await listAudits(sql, game_id)] as const;
    });
    const kept = revisions.map(({ content_hash: _hash, game_id: _id, ...revision }) => revision);
    context.out.document({ ...shown(row), revisions: kept, audits });
    context.out.table(Object.entries(shown(row)), [
      { header: 'field', value: ([field]) => field },
      {
        header: 'value',
        value: ([, value]) => (value instanceof Date ? formatMoment(value) : String(value ?? '')),
      },
    ]);
    context.out.line();
    context.out.table(revisions, [
      { header: 'revision', value: (revision) => revision.revision, right: true },
      { header: 'fetched', value: (revision) => formatMoment(revision.fetched_at) },
      { header: 'game_name', value: (revision) => revision.game_name.slice(0, 40) },
      { header: 'game_desc', value: (revision) => revision.game_desc.slice(0, 60) },
    ]);
    if (audits.length === 0) return undefined;
    context.out.line();
    context.out.table(audits, [
      { header: 'decided', value: (audit) => formatMoment(audit.decided_at) },
      { header: 'decision', value: (audit) => audit.audit_status },
      { header: 'on revision', value: (audit) => audit.revision, right: true },
      { header: 'by', value: (audit) => audit.decided_by },
      { header: 'reason', value: (audit) => audit.reason ?? '' },
    ]);
    return undefined;
  });

  const decide = (verb: 'pass' | 'reject', audit_status: 'passed' | 'rejected', summary: string) => {
    const command = defineCommand(game, verb, {
      summary,
      details:
        'A decision stands for one revision of the content: with --revision it is refused if the content has moved on since you looked.',
      examples: [
        verb === 'pass'
          ? 'game pass 019a… --by kim --revision 2'
          : 'game reject 019a… --by kim --reason "no icon"',
      ],
    })
      .argument('<game_id>', 'the game', uuid)
      .requiredOption('--by <who>', 'who decides')
      .option(
        '--revision <revision>',
        'the revision the decision is made on (default: the current one)',
        integer({ min: 1, max: 2 ** 31 - 1 }),
      );
    if (verb === 'reject') command.requiredOption('--reason <why>', 'why');
    else command.option('--reason <why>', 'why');
    act<[string], DecideOptions>(command, async (context, options, game_id) => {
      const decided_by = requireWord(options.by, '--by');
      const reason = options.reason === undefined ? null : requireWord(options.reason, '--reason');
      const decided = await withDatabase(context, async (sql) => {
        const row = await requireGame(sql, game_id);
        const decision = {
          game_id,
          audit_status,
          decided_by,
          reason,
          revision: options.revision ?? row.revision,
        };
        if (await decideGame(sql, decision)) return requireGame(sql, game_id);
        const now = await requireGame(sql, game_id);
        throw new CatalogueError(
          `The content of ${game_id} is at revision ${now.revision}, not ${decision.revision}: look at it (npx catalogue game show ${game_id}) and decide again.`,
        );
      });
      context.out.document(shown(decided));
      context.out.line(`${decided.game_name}: ${decided.audit_status} at revision ${decided.revision}.`);
      return undefined;
    });
  };
  decide('pass', 'passed', 'approve a game');
  decide('reject', 'rejected', 'reject a game');

  const recount = defineCommand(game, 'recount', {
    summary: 'compare the counters behind data.total with the games, and put them right',
    details: 'Reads every game; nothing has to stop for it. With --check: exit 3 when something is off.',
    examples: ['game recount', 'game recount --check --json'],
  }).option('--check', 'look, but change nothing');
  act<[], { json?: boolean; check?: boolean }>(recount, async (context, options) => {
    const repair = options.check !== true;
    const drift = await withDatabase(context, (sql) => recountGames(sql, { repair }));
    context.out.document({ drift, repaired: repair && drift.length > 0 });
    if (drift.length === 0) {
      context.out.line('The counters agree with the games.');
      return EXIT.done;
    }
    context.out.table(drift, [
      { header: 'application_id', value: (row) => row.application_id },
      { header: 'audit_status', value: (row) => row.audit_status },
      { header: 'games off', value: (row) => row.games_off, right: true },
      { header: 'counters off', value: (row) => row.counters_off, right: true },
    ]);
    if (repair) context.out.line('Put right.');
    return repair ? EXIT.done : EXIT.partial;
  });
};
