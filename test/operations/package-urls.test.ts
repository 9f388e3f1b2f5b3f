import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { selectGameDetail } from '#db/queries/api-games.ts';
import { listAudit } from '#db/queries/audit.ts';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGame, setPackageUrls } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(() => addApplication(database.sql, 'acme'));

const add = async () => {
  const game = fetchedGame({ game_id: randomUUID() });
  await upsertGames(database.sql, 'acme', [game]);
  return game;
};
const packages = (...args: string[]) =>
  runCli(['game', 'package', ...args, '--by', 'kim'], asOperator(database.databaseUrl));
const urlOf = async (game_id: string) => (await findGame(database.sql, game_id))?.game_package_url;

const write = async (text: string | Buffer): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'packages-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'packages');
  await writeFile(path, text);
  return path;
};

it('game package sets the URL that the API serves, and clears it; nothing else of the game changes', async () => {
  const { game_id, application_game_id } = await add();
  await decideGame(database.sql, { game_id, audit_status: 'passed' });
  const { updated_at: _before, ...before } = (await findGame(database.sql, game_id)) ?? {};
  const url = 'https://cdn.example/game.zip?a=1,2';
  const set = await packages(game_id, '--url', url);
  expect(set).toMatchObject({ exit: 0, stdout: `Lantern Harbour: ${url}\n` });
  expect(await findGame(database.sql, game_id)).toMatchObject({ ...before, game_package_url: url });
  expect(await selectGameDetail(database.sql, { scope: 'acme', game_id })).toMatchObject({
    game_package_url: url,
    audit_status: 'passed',
  });
  expect((await packages(game_id, '--clear')).stdout).toBe('Lantern Harbour: no package URL\n');
  expect(
    await listAudit(database.sql, { subject: `game:${game_id}`, action: 'game.package', limit: 9 }),
  ).toMatchObject([
    { actor: 'kim', details: { game_package_url: '', former: url } },
    { actor: 'kim', details: { game_package_url: url, former: '' } },
  ]);
  const { entries } = await readTimeline(database.sql, 'acme', application_game_id);
  expect(entries.filter(({ kind }) => kind === 'package').map(({ text }) => text)).toEqual([
    `Package URL set to ${url}.`,
    'Package URL cleared.',
  ]);
});

it.for([
  [
    'CSV',
    (ids: string[]) =>
      `\ufeffgame_package_url,game_id\r\n"https://x.example/a,b.zip",${ids[0]}\r\n,${ids[1]}\r\n`,
  ],
  [
    'NDJSON',
    (ids: string[]) =>
      `{"game_id":"${ids[0]}","game_package_url":"https://x.example/a,b.zip"}\n\n{"game_id":"${ids[1]}","game_package_url":""}\n`,
  ],
] as const)('game package --from reads %s', async ([, format]) => {
  const [one, two] = [await add(), await add()];
  const path = await write(format([one.game_id, two.game_id]));
  const first = await packages('--from', path, '--json');
  expect(first.exit).toBe(0);
  expect(documentOf(first)).toEqual({ changed: [one.game_id], unchanged: [two.game_id], unknown: [] });
  expect(await urlOf(one.game_id)).toBe('https://x.example/a,b.zip');
});

it('game package names the option whose address is wrong', async () => {
  const { game_id } = await add();
  for (const url of ['ftp://x.example/game.zip', `https://x.example/${'x'.repeat(2_048)}`]) {
    const { exit, stderr } = await packages(game_id, '--url', url);
    expect(exit).toBe(2);
    expect(stderr).toContain("option '--url <url>' argument");
    expect(stderr).toContain('Give an http or https URL with at most 2048 characters.');
  }
  expect(await urlOf(game_id)).toBe('');
});

it('game package --from applies a file as a whole: it names every wrong line, and writes nothing', async () => {
  const { game_id } = await add();
  const unknown = randomUUID();
  const row = (id: string, url: string): string => JSON.stringify({ game_id: id, game_package_url: url });
  for (const [text, ...says] of [
    [
      `${row(unknown, 'https://x.example')}\n\n${row(game_id, 'https://x.example')}`,
      `line 1: there is no game ${unknown}`,
    ],
    [
      `${row(game_id, 'https://y.example')}\n${row('1', '')}\n${row(unknown, 'ftp://x')}`,
      'line 2: game_id is not a whole id',
      'line 3: game_package_url',
    ],
    [
      `${row(game_id, 'https://y.example')}\n${row(game_id, '')}`,
      'line 2: the game is named twice, first in line 1',
    ],
    [`${row(game_id, 'https://y.example')}\nnothing`, 'line 2: is not JSON'],
    [`game_id,url\n${game_id},https://y.example`, 'line 2: game_package_url'],
  ] as const) {
    const { exit, stderr } = await packages('--from', await write(text));
    expect(exit).toBe(2);
    expect(stderr).toContain('nothing was changed');
    for (const each of says) expect(stderr).toContain(each);
  }
  expect(await urlOf(game_id)).toBe('');
});

it('game package --from - reads stdin, as in a container, and names it where a line is wrong', async () => {
  const { game_id } = await add();
  const fromStdin = (text: string) =>
    runCli(['game', 'package', '--from', '-', '--by', 'kim'], asOperator(database.databaseUrl), text);
  const url = 'https://x.example/piped.zip';
  expect(await fromStdin(`game_id,game_package_url\n${game_id},${url}\n`)).toMatchObject({
    exit: 0,
    stdout: '1 changed, 0 unchanged.\n',
  });
  expect(await urlOf(game_id)).toBe(url);
  expect(await fromStdin('{"game_id":"1"}')).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('stdin was not applied'),
  });
});

it('two thousand package URLs are set in one transaction, with progress', async () => {
  const games = await Promise.all(Array.from({ length: 20 }, add));
  const urls = games.map(({ game_id }) => ({ game_id, game_package_url: 'https://x.example/many.zip' }));
  const others = Array.from({ length: 1_980 }, () => ({ game_id: randomUUID(), game_package_url: '' }));
  const done: number[] = [];
  const options = { onProgress: (count: number) => void done.push(count) };
  await expect(
    setPackageUrls(database.sql, [...urls, ...others], KIM, { ...options, allMustExist: true }),
  ).rejects.toThrow(/^There is no game .* and 1979 others\.$/);
  expect(await urlOf(urls[0]?.game_id ?? '')).toBe('');
  const result = await setPackageUrls(database.sql, [...urls, ...others], KIM, options);
  expect(result.changed).toHaveLength(20);
  expect(done).toEqual([1_000, 2_000, 1_000, 2_000]);
});

it('game package refuses other addresses, and options that do not go together', async () => {
  const { game_id } = await add();
  for (const args of [
    [game_id],
    [],
    ['--clear'],
    [game_id, '--url', 'https://x.example', '--clear'],
    [game_id, '--from', 'x.csv'],
    [game_id, '--url', 'javascript:alert(1)'],
    [game_id, '--url', `https://x.example/${'x'.repeat(2_048)}`],
    [randomUUID(), '--url', 'https://x.example'],
    ['--from', '/nonexistent'],
  ])
    expect((await packages(...args)).exit).toBe(2);
  expect(await urlOf(game_id)).toBe('');
});

it('a file with a byte order mark is read, and one that is no UTF-8 is refused', async () => {
  const { game_id } = await add();
  const url = 'https://cdn.example/marked.zip';
  const lines = `${JSON.stringify({ game_id, game_package_url: url })}\n`;
  expect(await packages('--from', await write(`\uFEFF${lines}`))).toMatchObject({ exit: 0 });
  expect(await urlOf(game_id)).toBe(url);
  const table = await write(`\uFEFFgame_id,game_package_url\n${game_id},https://cdn.example/table.zip\n`);
  expect(await packages('--from', table)).toMatchObject({ exit: 0 });
  const broken = Buffer.from(lines.replace('marked', 'b\u00e4r'), 'latin1');
  const refused = await packages('--from', await write(broken));
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('cannot be read') });
  expect(await urlOf(game_id)).toBe('https://cdn.example/table.zip');
});
