import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { carryOver, takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { upsertGames } from '#db/queries/games.ts';
import { listPins, placesOf } from '#db/queries/picture-pins.ts';
import { carryOverDecisionsJob } from '#jobs/carry-over-decisions.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { createPictures, type Pictures } from '#src/pictures/refresh.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { addApplication, DEFAULT_RULE, fetchedGame, KIM } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';
import { aPicture, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const signal = new AbortController().signal;
let server: PictureServer;
let decoder: Decoder;
let pictures: Pictures;
let media: Database;
let worker: Database;
let reviewer: Database;

beforeAll(async () => {
  server = await startPictureServer();
  decoder = createDecoder();
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  media = database.as('media');
  worker = database.as('worker');
  reviewer = database.as('console');
  const limits = { maxBytes: 200_000, recheckMs: 3_600_000 };
  pictures = createPictures({
    sql: media,
    egress,
    decoder,
    ...limits,
    reopenGames: createReopenGames(media),
  });
  await addApplication(database.sql, 'acme');
});
afterAll(async () => {
  pictures.close();
  decoder.close();
  await server.close();
});

let minute = 0;
type Changes = Partial<ApplicationGameDetail>;
/** Lands a game with an icon and two pictures in a folder of the server. */
const land = async (game_id: string, folder: string, changes: Changes = {}) => {
  minute += 1;
  const at = (name: string) => `${server.url}/${folder}/${name}.png`;
  const detail = {
    game_icon: [at('icon')],
    game_store_pic: [at('1'), at('2')],
    game_store_video: '',
    ...changes,
  };
  const game = fetchedGame({ game_id, ...detail }, new Date(Date.UTC(2026, 0, 1, 0, minute)));
  await upsertGames(worker, 'acme', [game]);
};
/** Puts the files of a game into a folder. */
const serve = async (folder: string, seeds: readonly number[]) => {
  for (const [index, name] of ['icon', '1', '2'].entries()) {
    const seed = seeds[index];
    if (seed === undefined) server.files.delete(`/${folder}/${name}.png`);
    else server.files.set(`/${folder}/${name}.png`, { bytes: await aPicture(seed), etag: `"${seed}"` });
  }
};
const gameOf = (id: string) => oneGame(database.sql, 'acme', id);
const decide = async (id: string, audit_status: 'passed' | 'rejected' = 'passed') => {
  const { game_id, revision, game_icon, game_store_pic } = await gameOf(id);
  for (const url of [...game_icon, ...game_store_pic])
    await pictures.refresh({ application_id: 'acme', url }, 'look', signal);
  const details =
    audit_status === 'rejected' ? { reason: 'rights', text: 'Whose logo is it?', note: 'hm' } : {};
  const { games } = await decideGames(reviewer, [{ game_id, revision }], { audit_status, ...details }, KIM);
  expect(games[0]?.result).toBe('decided');
};
const carry = async () => {
  await database.sql`update changed_games set carry_at = now() where carry_at is not null`;
  await database.sql`update pictures set fresh_until = now()`;
  return carryOverDecisionsJob.handler({}, { deps: { sql: media, pictures }, signal } as never);
};
const auditsOf = async (id: string) => {
  const { game_id } = await gameOf(id);
  return database.sql<{ audit_id: number; decided_by: string; carried_over_from: number | null }[]>`
    select audit_id::int, audit_status, revision, decided_by, reason, text, note, carried_over_from::int
    from game_audits where game_id = ${game_id} order by audit_id`;
};
const carryAt = async (id: string) => {
  const { game_id } = await gameOf(id);
  const [row] = await database.sql<{ carry_at: Date | null }[]>`
    select carry_at from changed_games where game_id = ${game_id}`;
  return row?.carry_at;
};

test.each(['passed', 'rejected'] as const)(
  'a game that moved to another host with the same bytes gets its decision back: %s',
  async (status) => {
    const id = `moved-${status}`;
    await serve(`${id}-old`, [1, 2, 3]);
    await land(id, `${id}-old`);
    await decide(id, status);
    await serve(`${id}-new`, [1, 2, 3]);
    await land(id, `${id}-new`);
    expect(await gameOf(id)).toMatchObject({ audit_status: 'pending', revision: 2 });
    expect(await carry()).toMatchObject({ carried: 1 });
    const game = await gameOf(id);
    expect(game).toMatchObject({ audit_status: status, revision: 2, audit_time: expect.any(Date) });
    const [before, carried, ...others] = await auditsOf(id);
    expect(others).toEqual([]);
    expect(carried).toMatchObject({
      audit_status: status,
      revision: 2,
      decided_by: 'catalogue',
      reason: status === 'rejected' ? 'rights' : null,
      text: status === 'rejected' ? 'Whose logo is it?' : null,
      note: null,
      carried_over_from: before?.audit_id,
    });
    expect([...(await listPins(database.sql, game.game_id))]).toHaveLength(3);
    const events = await database.sql`
      select type, data ->> 'why' as why, data ->> 'reason' as reason from events
      where game_id = ${game.game_id} order by created_at`;
    const reason = status === 'rejected' ? 'rights' : null;
    expect(events).toEqual([
      { type: `game.${status}`, why: 'decided', reason },
      { type: 'game.pending', why: 'content_changed', reason: null },
      { type: `game.${status}`, why: 'decided', reason },
    ]);
    const entries = await database.sql`
      select actor, actor_kind, action, details ->> 'revision' as revision from audit_log
      where subject = ${`game:${game.game_id}`} order by entry_id desc limit 1`;
    expect(entries).toEqual([
      { actor: 'catalogue', actor_kind: 'system', action: 'game.carry_over', revision: '2' },
    ]);
    const timeline = await readTimeline(database.sql, 'acme', id);
    expect(timeline.entries.at(-1)?.text).toMatch(
      /only addresses changed, and every picture has the same bytes\.$/,
    );
  },
);

test('its pictures are watched as those of any decision', async () => {
  const { game_id } = await gameOf('moved-passed');
  await serve('moved-passed-new', [1, 9, 3]);
  await database.sql`update pictures set fresh_until = now()`;
  const [url = ''] = (await gameOf('moved-passed')).game_store_pic;
  expect(await pictures.refresh({ application_id: 'acme', url }, 'check', signal)).toMatchObject({
    drifted: [game_id],
  });
});

test.each<[what: string, seeds: number[], changes: Changes]>([
  ['another-picture', [1, 2, 4], {}],
  ['another-icon', [5, 2, 3], {}],
  ['its-pictures-in-another-order', [1, 3, 2], {}],
  ['a-missing-file', [1, 2], {}],
  ['another-name', [1, 2, 3], { game_name: 'Other' }],
  ['another-description', [1, 2, 3], { game_info: 'Other' }],
  ['another-video', [1, 2, 3], { game_store_video: 'https://cdn.example/other.mp4' }],
  ['one-picture-less', [1, 2, 3], { game_store_pic: [] }],
])('with %s it stays pending', async (what, seeds, changes) => {
  await serve(`${what}-old`, [1, 2, 3]);
  await land(what, `${what}-old`);
  await decide(what);
  await serve(`${what}-new`, seeds);
  await land(what, `${what}-new`, changes);
  expect(await carry()).toMatchObject({ carried: 0 });
  expect(await gameOf(what)).toMatchObject({ audit_status: 'pending', revision: 2 });
  // Only what could not be fetched is looked at again.
  expect(await carryAt(what)).toEqual(what === 'a-missing-file' ? expect.any(Date) : null);
});

test('files that follow their addresses are found later', async () => {
  await serve('a-missing-file-new', [1, 2, 3]);
  expect(await carry()).toMatchObject({ carried: 1 });
  expect(await gameOf('a-missing-file')).toMatchObject({ audit_status: 'passed', revision: 2 });
});

test('a game that changes again is looked at again, and a signed address of the same video is no other video', async () => {
  const video = (seconds: number) => `https://cdn.example/f.mp4?AccessKeyId=k&Expires=${seconds}&Signature=s`;
  await serve('again-old', [1, 2, 3]);
  await land('again', 'again-old', { game_store_video: video(1) });
  await decide('again');
  await land('again', 'nowhere', { game_store_video: video(2), game_name: 'Other' });
  expect(await carry()).toMatchObject({ carried: 0 });
  expect(await carryAt('again')).toBeNull();
  await serve('again-new', [1, 2, 3]);
  await land('again', 'again-new', { game_store_video: video(3) });
  expect(await carry()).toMatchObject({ carried: 1 });
  expect(await gameOf('again')).toMatchObject({ audit_status: 'passed', revision: 3 });
});

test('a decision that was carried over and undone stays undone', async () => {
  const last = (await auditsOf('again')).at(-1);
  const undone = await undoGameDecisions(reviewer, [last?.audit_id ?? 0], KIM);
  expect(undone[0]?.result).toBe('undone');
  expect(await gameOf('again')).toMatchObject({ audit_status: 'pending' });
  expect(await carryAt('again')).toBeNull();
  expect(await carry()).toMatchObject({ compared: 0 });
});

test('a decision that names no bytes of a picture is not carried over, and neither is one on the same revision', async () => {
  await serve('blind-old', [1, 2]);
  await land('blind', 'blind-old');
  await decide('blind');
  await serve('blind-new', [1, 2]);
  await land('blind', 'blind-new');
  expect(await carry()).toMatchObject({ compared: 1, carried: 0 });
  expect(await carryAt('blind')).toBeNull();
  await serve('drift', [1, 2, 3]);
  await land('drift', 'drift');
  await decide('drift');
  await serve('drift', [1, 2, 4]);
  await database.sql`update pictures set fresh_until = now()`;
  const [, url = ''] = (await gameOf('drift')).game_store_pic;
  await pictures.refresh({ application_id: 'acme', url }, 'check', signal);
  await serve('drift', [1, 2, 3]);
  expect(await gameOf('drift')).toMatchObject({ audit_status: 'pending', revision: 1 });
  expect(await carryAt('drift')).toBeNull();
  expect(await carry()).toMatchObject({ carried: 0 });
  expect(await gameOf('drift')).toMatchObject({ audit_status: 'pending' });
});

test('a media process that lies passes nothing whose texts, video, or number of pictures differ', async () => {
  for (const what of ['another-name', 'another-description', 'another-video', 'one-picture-less']) {
    const game = await gameOf(what);
    const [{ audit_id = 0 } = {}] = await auditsOf(what);
    const places = placesOf({ ...game, audit_id }, DEFAULT_RULE);
    // It may write what it likes into the table of pictures.
    for (const { picture_id, place, is_icon } of places)
      await media`
        update pictures set sha256 = p.sha256 from picture_pins p
        where pictures.picture_id = ${picture_id} and p.audit_id = ${audit_id} and p.is_icon = ${is_icon}
          and p.place = ${place}`;
    expect(await carryOver(media, { game_id: game.game_id, revision: 2, audit_id }, places)).toBe(false);
    expect(await gameOf(what)).toMatchObject({ audit_status: 'pending' });
  }
  await expect(
    media`insert into game_audits (game_id, revision, audit_status, decided_by)
      values ((select game_id from games limit 1), 1, 'passed', 'kim')`,
  ).rejects.toThrow('permission denied');
});

test('a hundred games that moved, half of them with one other byte: exactly the others get their decisions back', async () => {
  const bytes = await aPicture(1);
  const other = Buffer.concat([bytes, Buffer.from([0])]);
  const names = Array.from({ length: 100 }, (_, n) => `many-${n}`);
  for (const [n, name] of names.entries()) {
    for (const folder of ['old', 'new'])
      for (const file of ['icon', '1', '2'])
        server.files.set(`/${name}-${folder}/${file}.png`, {
          bytes: folder === 'new' && n % 2 === 1 && file === '2' ? other : bytes,
        });
    await land(name, `${name}-old`);
    await decide(name);
    await land(name, `${name}-new`);
  }
  // A host that takes long, as on a busy machine, gives some of the games their pictures at a later look.
  let carried = 0;
  await until('the decisions', async () => {
    carried += Number((await carry())?.carried);
    return carried >= 50;
  });
  expect(carried).toBe(50);
  for (const [n, name] of names.entries())
    expect(await gameOf(name)).toMatchObject({
      audit_status: n % 2 === 1 ? 'pending' : 'passed',
      revision: 2,
    });
  expect(await takeCarryCandidates(media, 100, 1_000)).toEqual([]);
});
