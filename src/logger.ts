import { type Logger, pino } from 'pino';
import { coerceError } from '#src/errors.ts';

/**
 * What the log keeps of an error. Not what else drivers hang on it: ioredis the command that was refused, which may
 * be the one that signs in.
 */
const plainError = (error: unknown): Record<string, unknown> => {
  const { name, message, stack, code } = coerceError(error) as Error & { code?: unknown };
  return { type: name, message, stack, ...(code !== undefined && { code }) };
};

/**
 * The process's log, on stderr: stdout belongs to what a command answers. JSON lines, or readable ones where
 * a person looks on. Nothing is redacted by name: secrets are kept out by never being handed to a logger.
 */
export const createLogger = (level: string, options: { pretty: boolean; role: string }): Logger => {
  const base = { role: options.role };
  const formatters = { level: (label: string) => ({ level: label }) };
  const serializers = { err: plainError };
  if (!options.pretty) {
    return pino(
      { level, base, formatters, serializers, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination(2),
    );
  }
  const transport = {
    target: 'pino-pretty',
    options: {
      destination: 2,
      ignore: 'pid,hostname,role,job_id',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
    },
  };
  return pino({ level, base, serializers, transport });
};
