import type { Json } from '#test/support/checked-application.ts';
import type { Planted, PlantedCall, PlantedReply } from '#test/support/planted-application.ts';

export type Mistake = Planted & {
  planted: string;
  /** The cases that must fail, and no other. The first one says what the mistake is. */
  fails: readonly string[];
  says: RegExp;
  /** The deadline of a call, where the mistake is that none is answered in time. */
  callTimeoutMs?: number;
};

type Change = (reply: PlantedReply, call: PlantedCall) => void;
const inReply =
  (operation: string) =>
  (change: Change): Change =>
  (reply, call) => {
    if (call.operation === operation && !call.isRefused) change(reply, call);
  };
export const list = inReply('query_game_list');
export const detail = inReply('query_game_detail');
export const kyc = inReply('query_cp_kyc');
export const every =
  (change: Change): Change =>
  (reply, call) => {
    if (!call.isRefused) change(reply, call);
  };
export const rows = (change: (row: Json) => void): Change =>
  list(({ json }) => {
    for (const row of json.data?.list ?? []) change(row);
  });
export const details = (change: (data: Json) => void): Change =>
  detail(({ json }) => {
    if (json.data !== null) change(json.data);
  });
export const data = (change: (data: Json, call: PlantedCall) => void): Change =>
  list(({ json }, call) => {
    if (json.data !== null) change(json.data, call);
  });
/** Renames a field. */
export const rename = (object: Json, from: string, to: string): void => {
  object[to] = object[from];
  delete object[from];
};

/** A page of a web server in place of the list. */
export const page = (text: string, status = 200): Change =>
  list((reply) => Object.assign(reply, { status, raw: text }));
