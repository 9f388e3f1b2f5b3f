/** Operations as tests run them. The short forms below take what a test says: the database, the subject, who, and how. */
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { Actor } from '#db/queries/audit.ts';
import type { PackageUrl } from '#db/queries/package-urls.ts';
import { FOUR_EYES_BY_DEFAULT, type FourEyes } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';
import type { AuditStatus, Decision } from '#src/contract/words.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { type DecidedBatch, passGames, rejectGames } from '#src/operations/decisions.ts';
import { engineOperations } from '#src/operations/engine-operations.ts';
import { acceptCpId as acceptance, eraseKycRecord, revealKycRecord } from '#src/operations/kyc.ts';
import { operate } from '#src/operations/operate.ts';
import type { Caller, Given, Operation, Platform } from '#src/operations/operation.ts';
import {
  addOperator as addition,
  disableOperator,
  enableOperator,
  linkOperator as linking,
  setRoles as settingRoles,
  signOutOperator as signingOut,
} from '#src/operations/operators.ts';
import { setPackageUrls as packaging } from '#src/operations/package-urls.ts';
import { removeApplication as removal } from '#src/operations/remove-application.ts';
import { resealKeys } from '#src/operations/reseal.ts';
import { undoGameDecisions as undo } from '#src/operations/undo-decisions.ts';
import { acceptWithdrawals as withdrawal } from '#src/operations/withdrawals.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { KIM as FACTORY_KIM, testKeys } from '#test/support/factories.ts';

/** What the operations of a test use. Without `producer`, an operation that adds jobs fails. */
export const testPlatform = (sql: Database, given: Partial<Platform> = {}): Platform => ({
  sql,
  fourEyes: FOUR_EYES_BY_DEFAULT,
  keepsPictures: false,
  producer: () => Promise.reject(new Error('this test gave no producer')),
  keys: async () => testKeys,
  ...given,
});

/** What the end of a run needs, and what switches addresses of events off: as a worker has it. */
export const runEndings = (sql: Database) => ({ sql, ...engineOperations });

/** An operator who is signed in at a page. One who exists needs the session (`openSessions`). */
export const operatorCaller = (login: string, ...roles: Role[]): Caller => ({
  actor: { actor: login, actor_kind: 'operator' },
  roles,
  session: { secret: login, site: 'console', address: '192.0.2.1' },
});

/** Opens the session that `operatorCaller` has, of each operator. */
export const openSessions = async (sql: Database): Promise<void> => {
  const logins = await sql<{ login: string }[]>`select login from operators`;
  const rows = logins.map(({ login }) => ({ session_hash: hashSecret(login), login, site: 'console' }));
  await sql`insert into operator_sessions ${sql(rows)} on conflict do nothing`;
};

/** Somebody at the command line. */
export const KIM: Caller = { actor: { actor: 'kim', actor_kind: 'command_line' }, roles: 'all' };

/** Runs an operation as this actor, who may do everything. */
export const operateAs = <Schema extends z.ZodType, Result, Final>(
  sql: Database,
  actor: Actor,
  operation: Operation<Schema, Result, Final>,
  given: Given<Schema>,
  platform: Partial<Platform> = {},
): Promise<Final> => operate(operation, given, { actor, roles: 'all' }, testPlatform(sql, platform));

export const removeApplication = (sql: Database, application_id: string) =>
  operate(removal, { application_id }, KIM, testPlatform(sql));

export type DecisionRequest = {
  audit_status: Decision;
  /** Of a rejection. */
  reason?: string | undefined;
  text?: string | undefined;
  note?: string | undefined;
  seen_status?: AuditStatus | undefined;
};
type Seen = { game_id: string; revision: number; seen_pictures?: Record<string, string> };

export const decideGames = (
  sql: Database,
  games: Seen[],
  { audit_status, reason = '', text, ...request }: DecisionRequest,
  actor: Actor,
): Promise<DecidedBatch> =>
  audit_status === 'passed'
    ? operateAs(sql, actor, passGames, { games, ...request })
    : operateAs(sql, actor, rejectGames, { games, reason, text, ...request });

/** Decides on one game as kim. @returns whether the decision was made */
export const decideGame = async (
  sql: Database,
  { game_id, revision = 1, ...request }: { game_id: string; revision?: number } & DecisionRequest,
): Promise<boolean> => {
  const { games } = await decideGames(sql, [{ game_id, revision }], request, FACTORY_KIM);
  return games[0]?.result === 'decided';
};

export const undoGameDecisions = (sql: Database, audit_ids: number[], actor: Actor) =>
  operateAs(sql, actor, undo, { audit_ids });

export const setPackageUrls = (
  sql: Database,
  urls: PackageUrl[],
  actor: Actor,
  { allMustExist = false, onProgress }: { allMustExist?: boolean; onProgress?: (done: number) => void } = {},
) => operateAs(sql, actor, packaging, { urls, all_must_exist: allMustExist }, { onProgress });

/** How an action follows the rule of two persons. Absent: the default setting, without an approval. */
export type SecondPerson = { fourEyes?: FourEyes; approval_id?: string | undefined };
const byDefault: SecondPerson = {};
const settingOf = ({ fourEyes = FOUR_EYES_BY_DEFAULT }: SecondPerson) => ({ fourEyes });

export const acceptWithdrawals = async (
  sql: Database,
  run_id: string,
  game_ids: string[] | undefined,
  actor: Actor,
  second = byDefault,
): Promise<string[]> => {
  const given = { run_id, game_ids, approval_id: second.approval_id };
  return (await operateAs(sql, actor, withdrawal, given, settingOf(second))).game_ids;
};

type ActorWithReason = Actor & { reason: string };

export const revealKyc = (
  sql: Database,
  keys: KeyRing,
  application_id: string,
  { reason, ...actor }: ActorWithReason,
  second = byDefault,
) => {
  const given = { application_id, reason, approval_id: second.approval_id };
  return operateAs(sql, actor, revealKycRecord, given, { ...settingOf(second), keys: async () => keys });
};

export const eraseKyc = async (
  sql: Database,
  application_id: string,
  { reason, ...actor }: ActorWithReason,
  second = byDefault,
): Promise<number> => {
  const given = { application_id, reason, approval_id: second.approval_id };
  return (await operateAs(sql, actor, eraseKycRecord, given, settingOf(second))).versions;
};

export const acceptCpId = (
  { sql, producer }: Pick<Platform, 'sql' | 'producer'>,
  application_id: string,
  actor: Actor,
  cp_id: string,
  second = byDefault,
) => {
  const given = { application_id, cp_id, approval_id: second.approval_id };
  return operateAs(sql, actor, acceptance, given, { ...settingOf(second), producer });
};

/** @returns the secret of the link */
export const addOperator = async (
  sql: Database,
  actor: Actor,
  operator: { login: string; name: string; roles: Role[] },
): Promise<string> => (await operateAs(sql, actor, addition, operator)).secret;

/** @returns the secret of the link */
export const linkOperator = async (
  sql: Database,
  actor: Actor,
  login: string,
  sets_password = true,
): Promise<string> => (await operateAs(sql, actor, linking, { login, sets_password })).secret;

export const setRoles = (sql: Database, actor: Actor, login: string, roles: Role[]) =>
  operateAs(sql, actor, settingRoles, { login, roles });

export const switchOperator = (sql: Database, actor: Actor, login: string, status: 'active' | 'disabled') =>
  operateAs(sql, actor, status === 'disabled' ? disableOperator : enableOperator, { login });

/** @returns how many sessions ended */
export const signOutOperator = async (sql: Database, actor: Actor, login: string): Promise<number> =>
  (await operateAs(sql, actor, signingOut, { login })).sessions;

/** Wraps every data key with the first key of this ring. */
export const reseal = (
  sql: Database,
  keys: KeyRing,
  following: Pick<Platform, 'signal' | 'onProgress'> = {},
) => operateAs(sql, KIM.actor, resealKeys, {}, { keys: async () => keys, ...following });
