// Writes db/schema.sql: `npm run db:schema`, after each change of the migrations.
import { writeDumps } from '#test/db/write-dumps.ts';

await writeDumps();
