import { type Logger, pino } from 'pino';
import { coerceError } from '#src/errors.ts';

/** Drops the other properties of driver errors: ioredis adds the rejected command, which may carry a password. */
const plainError = (error: unknown): Record<string, unknown> => {
  const { name, message, stack, code } = coerceError(error) as Error & { code?: unknown };
  return { type: name, message, stack, ...(code !== undefined && { code }) };
};

/** Beyond ASCII: control characters, line separators, bidirectional marks. JSON escapes those of ASCII. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Applications choose ids that reach the log: none may control the terminal that shows it. */
const escapeUnprintable =
  (backslash: string) =>
  (line: string): string =>
    line.replace(
      UNPRINTABLE,
      (character) => `${backslash}u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

/**
 * Creates the log of the process, on stderr (stdout carries the results of commands). It redacts nothing: secrets must
 * not be passed to it.
 * @param options.pretty readable lines for a terminal instead of JSON lines
 */
export const createLogger = (level: string, options: { pretty: boolean; role: string }): Logger => {
  const base = { role: options.role };
  const formatters = { level: (label: string) => ({ level: label }) };
  const serializers = { err: plainError };
  if (!options.pretty) {
    return pino(
      {
        level,
        base,
        formatters,
        serializers,
        timestamp: pino.stdTimeFunctions.isoTime,
        hooks: { streamWrite: escapeUnprintable('\\') },
      },
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
  // pino-pretty decodes one level of escapes.
  return pino({ level, base, serializers, transport, hooks: { streamWrite: escapeUnprintable('\\\\') } });
};
