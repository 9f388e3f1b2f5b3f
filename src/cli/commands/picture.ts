import type { Command } from '@commander-js/extra-typings';
import type { MissingPicture } from '#db/queries/missing-pictures.ts';
import { countStored } from '#db/queries/picture-store.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { parseNonEmpty } from '#src/cli/kit/parsers.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import { describePicture } from '#src/contract/pictures.ts';
import { CatalogueError, EXIT, UsageError } from '#src/errors.ts';
import { openPictureStore } from '#src/picture-store/open-store.ts';
import type { StoreFinding, StoreProblem } from '#src/pictures/verify-store.ts';

/** At most this many findings are printed. */
const SHOWN = 100;

const openStore = async ({ pictures, openDatabase }: CommandContext, resources: AsyncDisposableStack) => {
  const { store: location } = pictures;
  if (location === undefined) throw new UsageError('There is no store of pictures: set PICTURE_STORE.');
  const store = resources.adopt(await openPictureStore(location), (opened) => opened.close());
  const aborter = new AbortController();
  const onSignal = () => aborter.abort(new CatalogueError('Stopped. The same command continues.'));
  process.once('SIGINT', onSignal);
  resources.defer(() => void process.off('SIGINT', onSignal));
  return { store, sql: await openDatabase(), signal: aborter.signal };
};

const explainMissing = ({ outcome, http_status }: MissingPicture): string =>
  outcome === null ? 'not requested yet' : describePicture(outcome, http_status);

/** Records which pictures are lost, and deletes files that the database does not know. */
const repair = async (
  { operate, openDatabase }: CommandContext,
  { store, by }: { store: Awaited<ReturnType<typeof openPictureStore>>; by: string | undefined },
  findings: readonly StoreFinding[],
): Promise<void> => {
  const { deleteOrphan } = await import('#src/pictures/verify-store.ts');
  const { repairPictures } = await import('#src/operations/pictures.ts');
  const lost = findings.filter(({ problem }) => problem !== 'orphaned');
  const sha256 = lost.map(({ name }) => name.slice(0, 64));
  if (sha256.length > 0) await operate(repairPictures, { sha256 }, { by });
  const sql = await openDatabase();
  for (const finding of findings.filter(({ problem }) => problem !== 'missing'))
    await deleteOrphan({ sql, store }, finding);
};

/** `catalogue picture …` */
export const register = (program: Command): void => {
  const picture = program.command('picture');

  defineCommand(picture, 'verify', {
    summary: 'compare the store of pictures with the database',
    details:
      'Reads every picture of the store. missing: the store has lost it. different: it has other bytes than its name says. orphaned: the database does not know it. With --repair the database forgets what is lost, and the rest is deleted; picture backfill then fetches what is lost. Exit 3: something is wrong, or a passed game has pictures that the store lacks.',
    examples: ['picture verify', 'picture verify --repair --by kim'],
    parameters: (command) =>
      command
        .option('--repair', 'forget what is lost, delete what is different or orphaned')
        .option('--by <who>', 'name of the operator', parseNonEmpty),
    run: async (context, { repair: mayRepair, by }) => {
      const { out } = context;
      await using resources = new AsyncDisposableStack();
      const { store, sql, signal } = await openStore(context, resources);
      const { findDamaged, findOrphaned } = await import('#src/pictures/verify-store.ts');
      const { findMissing } = await import('#src/pictures/backfill.ts');
      const total = await countStored(sql);
      const progress = openProgress(out, ['verify'], 'pictures');
      resources.defer(() => progress?.stop());
      let checked = 0;
      const counts: Record<StoreProblem, number> = { missing: 0, different: 0, orphaned: 0 };
      const shown: StoreFinding[] = [];
      const take = async (findings: readonly StoreFinding[]): Promise<void> => {
        for (const { problem } of findings) counts[problem] += 1;
        shown.push(...findings.slice(0, SHOWN - shown.length));
        if (mayRepair) await repair(context, { store, by }, findings);
      };
      const onChecked = (pictures: number): void => {
        checked += pictures;
        progress?.update('verify', checked, total);
      };
      for await (const findings of findDamaged({ sql, store, signal }, onChecked)) await take(findings);
      for await (const findings of findOrphaned({ sql, store, signal })) await take(findings);
      const lacking = await findMissing({ sql, signal });
      progress?.stop();
      const { missing, different, orphaned } = counts;
      const document = { checked, ...counts, lacking, repaired: mayRepair === true, findings: shown };
      out.answer(
        document,
        `${formatCount(checked, 'picture')}: ${missing} missing, ${different} different, ${orphaned} orphaned.`,
        ...(lacking === 0
          ? []
          : [
              `Passed games have ${formatCount(lacking, 'picture')} that the store lacks: npx catalogue picture backfill.`,
            ]),
      );
      if (shown.length > 0) out.table(shown, ['problem', 'area', 'name']);
      const wrong = mayRepair ? lacking : lacking + missing + different + orphaned;
      return wrong === 0 ? EXIT.done : EXIT.partial;
    },
  });

  defineCommand(picture, 'backfill', {
    summary: 'fetch the pictures of passed games that the store lacks',
    details:
      'The media process requests them, and a picture that has other bytes than the decision returns its game to review. It can be stopped and continued. Exit 3: some could not be fetched; group A serves these games without them.',
    examples: ['picture backfill'],
    run: async (context) => {
      const { out } = context;
      await using resources = new AsyncDisposableStack();
      const { sql, signal } = await openStore(context, resources);
      const { backfillPictures, findMissing } = await import('#src/pictures/backfill.ts');
      const { countLiveGames } = await import('#db/queries/missing-pictures.ts');
      const total = await countLiveGames(sql);
      const progress = openProgress(out, ['backfill'], 'games');
      resources.defer(() => progress?.stop());
      let done = 0;
      const onGames = (games: number): void => {
        done += games;
        progress?.update('backfill', done, total);
      };
      const requested = await backfillPictures({ sql, signal, onGames });
      const shown: MissingPicture[] = [];
      const lacking = await findMissing({ sql, signal }, (some) =>
        shown.push(...some.slice(0, SHOWN - shown.length)),
      );
      progress?.stop();
      out.answer(
        { games: done, requested, lacking, pictures: shown },
        `${formatCount(requested, 'picture')} requested, ${lacking} still lacking.`,
      );
      if (shown.length > 0) out.table(shown, ['game_id', ['why', explainMissing], 'url']);
      return lacking === 0 ? EXIT.done : EXIT.partial;
    },
  });
};
