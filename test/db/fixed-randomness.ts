import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Makes the ids, nonces and keys of this process the same at each run, so that a file that it writes changes only where
 * its content does.
 */
export const useFixedRandomness = (): void => {
  let count = 0;
  const nextBytes = (size: number): Buffer => {
    count += 1;
    return createHash('shake256', { outputLength: size }).update(String(count)).digest();
  };
  const nextUuid = (): ReturnType<typeof crypto.randomUUIDv7> => {
    count += 1;
    const time = (Date.UTC(2026, 0, 1) + count).toString(16).padStart(12, '0');
    const last = count.toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${last}`;
  };
  Object.assign(crypto, { randomBytes: nextBytes, randomUUID: nextUuid, randomUUIDv7: nextUuid });
  syncBuiltinESMExports();
};
