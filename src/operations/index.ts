/** Every operation. The operator API serves each, except those of the platform itself. */
import type { OperationName } from '#src/contract/audit.ts';
import { changePassword, endOwnSessions, setSingleKeys } from '#src/operations/account.ts';
import { appealRejection, overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import {
  addApplication,
  changeApplication,
  pauseApplication,
  resumeApplication,
} from '#src/operations/applications.ts';
import { voidRequest } from '#src/operations/approvals.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { removeEventAddress, setEventAddress } from '#src/operations/event-address.ts';
import {
  retryEvents,
  rotateEventSecret,
  rotateSubscriptionSecret,
  sendTestEvent,
  switchEventsOff,
} from '#src/operations/events.ts';
import {
  pauseFailingApplication,
  resumeFailingApplications,
  resumeRecoveredApplication,
} from '#src/operations/failing-applications.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import { importGames } from '#src/operations/imports.ts';
import { acceptCpId, eraseKycRecord, pullKycRecord, revealKycRecord } from '#src/operations/kyc.ts';
import { expireFormerRecords, expireRemovedRecord } from '#src/operations/kyc-retention.ts';
import type { AnyOperation } from '#src/operations/operation.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';
import { setPackageUrls } from '#src/operations/package-urls.ts';
import { repairPictures } from '#src/operations/pictures.ts';
import { pullGames, retryFailures } from '#src/operations/pull-games.ts';
import { pauseQueues, resumeQueues, retryFailedJobs } from '#src/operations/queues.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';
import { removeApplication } from '#src/operations/remove-application.ts';
import { reopenGames } from '#src/operations/reopen-games.ts';
import { approve, cancelRequest, declineRequest, requestApproval } from '#src/operations/requests.ts';
import { resealKeys } from '#src/operations/reseal.ts';
import { cancelRun, startAcceptingRun, startManualRun } from '#src/operations/runs.ts';
import { resumeSubscription, subscribe, unsubscribe } from '#src/operations/subscriptions.ts';
import { messageGame, noteGame } from '#src/operations/threads.ts';
import { createToken, revokeApiToken, revokeOwnToken } from '#src/operations/tokens.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { acceptWithdrawals } from '#src/operations/withdrawals.ts';

/** @throws Error if two have the same name */
const byName = (operations: readonly AnyOperation[]): ReadonlyMap<OperationName, AnyOperation> => {
  const map = new Map<OperationName, AnyOperation>();
  for (const operation of operations) {
    if (map.has(operation.name)) throw new Error(`two operations are called ${operation.name}`);
    map.set(operation.name, operation);
  }
  return map;
};

export const operations = byName([
  addApplication,
  changeApplication,
  pauseApplication,
  resumeApplication,
  resumeFailingApplications,
  removeApplication,
  holdApplication,
  releaseApplication,
  requestCheck,
  pauseFailingApplication,
  resumeRecoveredApplication,
  setEventAddress,
  removeEventAddress,
  rotateEventSecret,
  rotateSubscriptionSecret,
  retryEvents,
  sendTestEvent,
  switchEventsOff,
  subscribe,
  unsubscribe,
  resumeSubscription,
  startManualRun,
  startAcceptingRun,
  cancelRun,
  acceptWithdrawals,
  pullGames,
  retryFailures,
  passGames,
  rejectGames,
  undoGameDecisions,
  noteGame,
  messageGame,
  appealRejection,
  upholdRejection,
  overturnRejection,
  setPackageUrls,
  importGames,
  reopenGames,
  repairPictures,
  addReason,
  retireReason,
  pauseQueues,
  resumeQueues,
  retryFailedJobs,
  createToken,
  revokeApiToken,
  revokeOwnToken,
  pullKycRecord,
  revealKycRecord,
  eraseKycRecord,
  acceptCpId,
  giveVerdict,
  resealKeys,
  expireFormerRecords,
  expireRemovedRecord,
  requestApproval,
  approve,
  cancelRequest,
  declineRequest,
  voidRequest,
  addOperator,
  linkOperator,
  setRoles,
  disableOperator,
  enableOperator,
  signOutOperator,
  changePassword,
  endOwnSessions,
  setSingleKeys,
]);
