import { openKeyRing } from '#src/sealing/key-ring.ts';

/** A process of its own: opens the ring of a home and prints the id of its first key. */
const [home = ''] = process.argv.slice(2);
const ring = await openKeyRing({ encryptionKeys: undefined, home, databaseUrl: undefined });
process.stdout.write(ring.records[0]?.key_id ?? 'none');
