/** The reasons of rejections: add, retire. */

import { z } from 'zod';
import { retireReason as retire, saveReason } from '#db/queries/reasons.ts';
import { reasonDocument } from '#src/contract/documents.ts';
import { PROSE_MAX, storableText } from '#src/contract/text.ts';
import { NotFoundError } from '#src/errors.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { refuseInWords } from '#src/operations/threads.ts';

const LABEL_MAX = 200;

const code = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be lower-case letters, digits and "_", at most 40 characters');
const reasonSubject = (reason: { code: string }): string => `reason:${reason.code}`;

export const addReason = defineOperation({
  name: 'reason.add',
  title: 'Add a reason, or change the words of one and bring it back',
  answer: reasonDocument,
  right: 'manage_reasons',
  /** The label is what the application's developer reads; a rejection begins with the text. */
  input: z.object({
    code,
    label: storableText(LABEL_MAX).trim().min(1, 'must not be empty'),
    text: storableText(PROSE_MAX).trim().default(''),
  }),
  subject: reasonSubject,
  run: (tx, reason) => refuseInWords(() => saveReason(tx, reason)),
  log: ({ label, text }) => ({ details: { label, ...(text !== '' && { text }) } }),
});

export const retireReason = defineOperation({
  name: 'reason.retire',
  title: 'Retire a reason: no new decision names it',
  answer: reasonDocument,
  right: 'manage_reasons',
  input: z.object({ code }),
  subject: reasonSubject,
  run: async (tx, reason) => {
    const row = await retire(tx, reason.code);
    if (row !== undefined) return row;
    throw new NotFoundError('reason', reason.code);
  },
});
