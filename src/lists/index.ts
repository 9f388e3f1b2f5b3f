/** Every list, by the name that the operator API gives it. */
import { applicationList } from '#src/lists/applications.ts';
import { approvalList, kycRequestList, runRequestList } from '#src/lists/approvals.ts';
import { auditList, revealList } from '#src/lists/audit.ts';
import { checkList } from '#src/lists/checks.ts';
import { deliveryList, eventAddressList, subscriptionList } from '#src/lists/events.ts';
import { failureGroupList, failureList } from '#src/lists/failures.ts';
import { figuresList } from '#src/lists/figures.ts';
import { gameList, rejectedGameList, withdrawnGameList } from '#src/lists/games.ts';
import { developerList, kycVersionList, unverifiedList, verdictList } from '#src/lists/kyc.ts';
import type { AnyList } from '#src/lists/list.ts';
import { operatorList } from '#src/lists/operators.ts';
import { queueList, workerList } from '#src/lists/queues.ts';
import { reasonList } from '#src/lists/reasons.ts';
import { batchList, laneList } from '#src/lists/review.ts';
import { runDayList, runList, runPageList, runWithdrawalList } from '#src/lists/runs.ts';
import { appealList, overturnedList, threadList } from '#src/lists/threads.ts';
import { tokenList } from '#src/lists/tokens.ts';

export const LISTS: readonly AnyList[] = [
  appealList,
  applicationList,
  approvalList,
  auditList,
  batchList,
  checkList,
  deliveryList,
  developerList,
  eventAddressList,
  failureGroupList,
  failureList,
  figuresList,
  gameList,
  kycRequestList,
  kycVersionList,
  laneList,
  operatorList,
  overturnedList,
  queueList,
  reasonList,
  rejectedGameList,
  revealList,
  runDayList,
  runList,
  runPageList,
  runRequestList,
  runWithdrawalList,
  subscriptionList,
  threadList,
  tokenList,
  unverifiedList,
  verdictList,
  withdrawnGameList,
  workerList,
];

const names = new Set(LISTS.map(({ name }) => name));
if (names.size !== LISTS.length) throw new Error('two lists have the same name');
