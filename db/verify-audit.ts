import type { Queryable } from '#db/client.ts';
import {
  findAuditHead,
  findUnchainedEntry,
  hasLink,
  type Link,
  readChainPart,
} from '#db/queries/audit-chain.ts';

/** Why an entry does not fit. */
type Fault = { entry_id: number; problem: 'changed' | 'removed' | 'inserted' | 'rewritten' };

export type AuditVerdict = {
  entries: number;
  /** Hash of the last entry, hexadecimal. A copy kept elsewhere proves that no entry up to it was rewritten. */
  head: string;
  /** The first entry that does not fit; null if the chain is whole. */
  broken: Fault | null;
};

/** Entries of one statement, so that a long log is verified without a long transaction. */
const BATCH = 20_000;
const FIRST: Link = { entry_id: 0, hash: '00'.repeat(32) };

/** Follows the chain from the first entry to the head. */
const findBrokenLink = async (sql: Queryable, head: Link): Promise<Fault | null> => {
  let last = FIRST;
  for (let rows = BATCH; rows === BATCH; ) {
    const part = await readChainPart(sql, last, head.entry_id, BATCH);
    const { expected, found, is_intact, last_id, last_hash } = part;
    if (expected !== null && found !== null) {
      if (found !== expected) return { entry_id: expected, problem: 'removed' };
      // An entry whose own hash is right, but not the hash of the entry before it, was inserted.
      return { entry_id: found, problem: is_intact ? 'inserted' : 'changed' };
    }
    if (last_id !== null && last_hash !== null) last = { entry_id: last_id, hash: last_hash };
    rows = part.rows;
  }
  if (last.entry_id < head.entry_id) return { entry_id: last.entry_id + 1, problem: 'removed' };
  if (last.hash !== head.hash) return { entry_id: last.entry_id, problem: 'rewritten' };
  const beyond = await findUnchainedEntry(sql);
  return beyond === undefined ? null : { entry_id: beyond, problem: 'inserted' };
};

/**
 * Verifies the chain of the audit log. New entries may be added meanwhile.
 * @param anchor an entry and its hash, noted earlier outside the database
 */
export const verifyAudit = async (sql: Queryable, anchor?: Link): Promise<AuditVerdict> => {
  const head = await findAuditHead(sql);
  if (head === undefined) return { entries: 0, head: '', broken: { entry_id: 0, problem: 'removed' } };
  let broken = await findBrokenLink(sql, head);
  if (broken === null && anchor !== undefined && !(await hasLink(sql, anchor)))
    broken = { entry_id: anchor.entry_id, problem: 'rewritten' };
  return { entries: head.entry_id, head: head.hash, broken };
};
