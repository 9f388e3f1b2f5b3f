// What would row-level security cost a page of the API? The same page of one application, read as the role `api` does,
// and in a transaction that names the application to a policy: node test/bench/row-security.ts 100000
import { openDatabase, type Queryable } from '#db/client.ts';
import { selectGamePage } from '#db/queries/api-games.ts';
import { loadGames, say, withDatabase } from '#test/bench/api-database.ts';

const READS = 500;
const TURNS = 5;
const SCOPE = 'app-7';
const ROLE = 'row_security_bench';

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

await withDatabase(async (sql, databaseUrl) => {
  await loadGames(sql, Number(process.argv[2] ?? '100000'));
  await sql.unsafe(`
    drop role if exists ${ROLE};
    create role ${ROLE};
    grant usage on schema public to ${ROLE};
    grant select on all tables in schema public to ${ROLE};
    create policy own_games on games to ${ROLE} using (
      current_setting('catalogue.application', true) in ('', application_id))`);
  const reader = openDatabase(databaseUrl, { max: 1, planOnce: true });
  await reader.unsafe(`set role ${ROLE}`);
  const read = (tx: Queryable) =>
    selectGamePage(tx, { scope: SCOPE, audit_status: 'pending', page_num: 3, page_size: 20 });
  const page = { plain: () => read(reader), secured: () => reader.begin(readSecured) };
  const readSecured = async (tx: Queryable) => {
    // Sent together with the page: one round trip.
    const named = tx`select set_config('catalogue.application', ${SCOPE}, true)`.execute();
    const [found] = await Promise.all([read(tx), named]);
    return found;
  };
  const medianOf = async (name: keyof typeof page): Promise<number> => {
    const times: number[] = [];
    for (let index = 0; index < READS; index += 1) {
      const from = performance.now();
      const { list } = await page[name]();
      times.push(performance.now() - from);
      if (list.length !== 20) throw new Error(`${name}: a page of ${list.length} games`);
    }
    return median(times);
  };
  const ratios: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    await sql`alter table games disable row level security`;
    const plain = await medianOf('plain');
    await sql`alter table games enable row level security`;
    const secured = await medianOf('secured');
    ratios.push(secured / plain);
    say(`a page: ${plain.toFixed(3)} ms, with row-level security ${secured.toFixed(3)} ms`);
  }
  say(`median of the ratios: ${median(ratios).toFixed(2)}`);
  await reader.end({ timeout: 5 });
  await sql.unsafe(`alter table games disable row level security; drop owned by ${ROLE}; drop role ${ROLE}`);
});
