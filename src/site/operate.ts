import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { operatorActor } from '#db/queries/audit.ts';
import { operate } from '#src/operations/operate.ts';
import type { Caller, Given, Operation, Platform } from '#src/operations/operation.ts';
import type { Producer } from '#src/queue/producer.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { operatorOf } from '#src/site/answers.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { readSessionCookie } from '#src/site/sign-in.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** The signed-in operator of a request. */
export const callerOfOperator = (request: FastifyRequest): Caller => {
  const { login, roles } = operatorOf(request);
  const { site } = request.server.frame;
  const session = { secret: readSessionCookie(request) ?? '', site, address: request.ip };
  return { actor: operatorActor(login), roles, session };
};

/** A site with what its operations need. The console has queues, the KYC desk has keys. */
type OperatingSite = SiteOptions & { keys?: KeyRing; producer?: Producer };

/** Returns what the operations of a site use. */
export const platformOf = ({ fourEyes, keepsPictures, keys, ...site }: OperatingSite): Platform => ({
  ...sourcesOf(site),
  fourEyes,
  keepsPictures,
  keys: async () => {
    if (keys !== undefined) return keys;
    throw new KeyError('no_key', 'This process has no keys: use the command line where they are.');
  },
});

/** Runs an operation for the signed-in operator of a request. */
export const operateFor = <Schema extends z.ZodType, Result, Final>(
  request: FastifyRequest,
  options: OperatingSite,
  operation: Operation<Schema, Result, Final>,
  given: Given<Schema>,
): Promise<Final> => operate(operation, given, callerOfOperator(request), platformOf(options));
