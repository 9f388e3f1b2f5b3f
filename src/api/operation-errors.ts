/** What the API responds when an operation throws. */
import { ApiError } from '#src/api/api-error.ts';
import type { PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, NotFoundError, UsageError } from '#src/errors.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { KeyError } from '#src/sealing/errors.ts';

/** Finds the failure that an error of an operation stands for; undefined for a fault of the platform. */
const classify = (error: Error): PlatformFailure | undefined => {
  if (error instanceof KeyError) return error.retryable ? 'unavailable' : 'forbidden';
  if (error instanceof ForbiddenError) return 'forbidden';
  if (error instanceof ApprovalError) return 'secondPerson';
  if (error instanceof NotFoundError) return 'notFound';
  if (error instanceof UsageError) return 'invalidField';
  return error instanceof CatalogueError ? 'conflict' : undefined;
};

/** Converts an error of an operation to that of the API. Faults stay as they are. */
export const toFailure = (thrown: unknown): Error => {
  const error = coerceError(thrown);
  const failure = error instanceof ApiError ? undefined : classify(error);
  return failure === undefined ? error : new ApiError(failure, error.message, { cause: error });
};
