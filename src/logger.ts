import { type Logger, pino } from 'pino';
import { coerceError } from '#src/errors.ts';
import { escapeUnprintable } from '#src/lib/printable.ts';

/** Drops the other properties of driver errors: ioredis adds the rejected command, which may carry a password. */
const plainError = (error: unknown): Record<string, unknown> => {
  const { name, message, stack, code } = coerceError(error) as Error & { code?: unknown };
  return { type: name, message, stack, ...(code !== undefined && { code }) };
};

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
        hooks: { streamWrite: (line) => escapeUnprintable(line) },
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
  const streamWrite = (line: string): string => escapeUnprintable(line, '\\\\');
  return pino({ level, base, serializers, transport, hooks: { streamWrite } });
};
