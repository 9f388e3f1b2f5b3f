import { z } from 'zod';

/**
 * The response envelope of all five operations (interface document, section 2.1). `data` stays `unknown`, because it counts
 * only if `ret_code` is 0 (section 7.2), and is then validated by the operation's own schema.
 */
export const envelopeSchema = z.object({
  // Any integer, because codes of 64 bits are failures too, and `z.int` refuses those beyond 53 bits.
  ret_code: z
    .number()
    .refine(Number.isInteger, { error: 'must be an integer', params: { code: 'invalid_type' } }),
  ret_msg: z.string(),
  data: z.unknown().optional(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** `ret_code` on success (section 7.3). */
export const RET_CODE_SUCCESS = 0;
/** `ret_msg` on success (section 2.1). */
export const RET_MSG_SUCCESS = 'success';
