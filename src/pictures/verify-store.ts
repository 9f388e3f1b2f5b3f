/** Compares the store of pictures with what the database says that it has. */
import type { Database } from '#db/client.ts';
import { type Content, findStoredIn, listStored, withContent } from '#db/queries/picture-store.ts';
import { STORE_AREAS, type StoreArea } from '#src/contract/pictures.ts';
import {
  hashOfPicture,
  nameOfPicture,
  type PictureStore,
  parsePictureName,
  type StoreItem,
} from '#src/picture-store/store.ts';

/**
 * - `missing`: the database names it, and the store does not have it.
 * - `different`: its bytes do not have the hash in its name.
 * - `orphaned`: the store has it, and the database does not name it.
 */
export type StoreProblem = 'missing' | 'different' | 'orphaned';
export type StoreFinding = { problem: StoreProblem; area: StoreArea; name: string };

type Verified = { sql: Database; store: PictureStore; signal: AbortSignal };

const BATCH = 1_000;
/** Most pictures that are read at once, of at most 10 MiB each. */
const READS = 8;

const problemOf = async (store: PictureStore, picture: Content): Promise<StoreFinding | undefined> => {
  const { stored: area, sha256 } = picture;
  if (area === null) return undefined;
  const name = nameOfPicture(picture);
  const bytes = await store.read(area, name);
  if (bytes === undefined) return { problem: 'missing', area, name };
  return hashOfPicture(bytes) === sha256 ? undefined : { problem: 'different', area, name };
};

/**
 * Reads every picture that the store should have.
 * @param onChecked called with the number of further pictures that were read
 */
export async function* findDamaged(
  { sql, store, signal }: Verified,
  onChecked: (pictures: number) => void,
): AsyncGenerator<StoreFinding[]> {
  /** Checks a picture again under its lock, because a process may have moved it since it was listed. */
  const check = async (listed: Content): Promise<StoreFinding | undefined> =>
    (await problemOf(store, listed)) &&
    withContent(sql, listed.sha256, 0, async (_, now) => now && problemOf(store, now));
  for (let after: string | null = ''; after !== null; ) {
    const { contents, last } = await listStored(sql, { after, limit: BATCH, keepMs: 0 });
    for (let from = 0; from < contents.length; from += READS) {
      signal.throwIfAborted();
      const some = contents.slice(from, from + READS);
      const found = await Promise.all(some.map(check));
      onChecked(some.length);
      yield found.filter((each) => each !== undefined);
    }
    after = last;
  }
}

/** Does the database say that the store has this? It waits for a process that is storing or moving it. */
const isNamed = (sql: Database, { area, name }: Pick<StoreItem, 'area' | 'name'>, sha256: string) =>
  withContent(
    sql,
    sha256,
    0,
    async (_, content) => content?.stored === area && nameOfPicture(content) === name,
  );

/** Lists what the store has and the database does not know. */
export async function* findOrphaned({ sql, store, signal }: Verified): AsyncGenerator<StoreFinding[]> {
  const orphansOf = async (area: StoreArea, names: readonly string[]): Promise<StoreFinding[]> => {
    const known = await findStoredIn(
      sql,
      area,
      names.flatMap((name) => parsePictureName(name)?.sha256 ?? []),
    );
    const knownNames = new Set(known.map(nameOfPicture));
    const orphans: StoreFinding[] = [];
    for (const name of names.filter((each) => !knownNames.has(each))) {
      const sha256 = parsePictureName(name)?.sha256;
      if (sha256 === undefined || !(await isNamed(sql, { area, name }, sha256)))
        orphans.push({ problem: 'orphaned', area, name });
    }
    return orphans;
  };
  for (const area of STORE_AREAS) {
    let names: string[] = [];
    for await (const { name } of store.list(area)) {
      signal.throwIfAborted();
      names.push(name);
      if (names.length < BATCH) continue;
      yield await orphansOf(area, names);
      names = [];
    }
    yield await orphansOf(area, names);
  }
}

/** Deletes what the database does not know. A file with the name of no picture stays, because it is not ours. */
export const deleteOrphan = async (
  { sql, store }: Pick<Verified, 'sql' | 'store'>,
  { area, name }: StoreFinding,
): Promise<void> => {
  const sha256 = parsePictureName(name)?.sha256;
  if (sha256 === undefined) return;
  await withContent(sql, sha256, 0, async (_, content) => {
    if (content?.stored !== area || nameOfPicture(content) !== name) await store.delete(area, name);
  });
};
