import { RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';

/** The envelope of a success (section 2.1). */
export const success = <Data>(data: Data) => ({ ret_code: RET_CODE_SUCCESS, ret_msg: RET_MSG_SUCCESS, data });
