import { expect, test } from 'vitest';
import { carryOver, takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { listPins, placesOf } from '#db/queries/picture-pins.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { type Changes, useCarryOver } from '#test/pictures/carried-games.ts';
import { DEFAULT_RULE, KIM } from '#test/support/factories.ts';
import { undoGameDecisions } from '#test/support/operate.ts';
import { aPicture } from '#test/support/pictures.ts';
import { until } from '#test/support/until.ts';

const { database, signal, land, serve, gameOf, decide, carry, auditsOf, carryAt, world } = useCarryOver();

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
      /at most addresses differ, and every picture has the same bytes\.$/,
    );
  },
);

test('its pictures are watched as those of any decision', async () => {
  const { game_id } = await gameOf('moved-passed');
  await serve('moved-passed-new', [1, 9, 3]);
  await database.sql`update pictures set fresh_until = now()`;
  const [url = ''] = (await gameOf('moved-passed')).game_store_pic;
  expect(await world().pictures.refresh({ application_id: 'acme', url }, 'check', signal)).toMatchObject({
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
  const undone = await undoGameDecisions(world().reviewer, [last?.audit_id ?? 0], KIM);
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
  await world().pictures.refresh({ application_id: 'acme', url }, 'check', signal);
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
      await world().media`
        update pictures set sha256 = p.sha256 from picture_pins p
        where pictures.picture_id = ${picture_id} and p.audit_id = ${audit_id} and p.is_icon = ${is_icon}
          and p.place = ${place}`;
    expect(await carryOver(world().media, { game_id: game.game_id, revision: 2, audit_id }, places)).toBe(
      false,
    );
    expect(await gameOf(what)).toMatchObject({ audit_status: 'pending' });
  }
  await expect(
    world().media`insert into game_audits (game_id, revision, audit_status, decided_by)
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
        world().server.files.set(`/${name}-${folder}/${file}.png`, {
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
  expect(await takeCarryCandidates(world().media, 100, 1_000)).toEqual([]);
});
