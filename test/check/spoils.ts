// Spoils the responses of a sample application, each in one way.
import type { Json, Spoil } from '#test/support/checked-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

export const isRight = (bearer: string) => bearer === `Bearer ${TOKEN}`;
export const list =
  (change: (data: Json, body: Json) => unknown): Spoil =>
  ({ operation, body }, { json }) => {
    if (operation === 'query_game_list' && json.ret_code === 0) change(json.data, body);
    return undefined;
  };
export const detail =
  (change: (data: Json, json: Json) => unknown): Spoil =>
  ({ operation }, { json }) => {
    if (operation === 'query_game_detail' && json.data !== null) change(json.data, json);
    return undefined;
  };
export const kyc =
  (change: (data: Json, json: Json) => unknown): Spoil =>
  ({ operation }, { json }) => {
    if (operation === 'query_cp_kyc' && json.data !== null) change(json.data, json);
    return undefined;
  };
export const accepts =
  (operation: string, when: (bearer: string) => boolean, data: unknown): Spoil =>
  (call, response) => {
    if (call.operation !== operation || !when(call.bearer)) return undefined;
    response.status = 200;
    response.json = { ret_code: 0, ret_msg: 'success', data };
    return undefined;
  };
