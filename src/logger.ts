import { type Logger, pino } from 'pino';
import { coerceError } from '#src/errors.ts';
import { escapeUnprintable } from '#src/lib/printable.ts';
import { writeToStderr } from '#src/lib/write-to-stderr.ts';
import { emitLogRecord, traceIds } from '#src/tracing/log-records.ts';

/** Drops the other properties of driver errors, because ioredis adds the rejected command, which may carry a password. */
const plainError = (error: unknown): Record<string, unknown> => {
  const { name, message, stack, code } = coerceError(error) as Error & { code?: unknown };
  return { type: name, message, stack, ...(code !== undefined && { code }) };
};

/** A formatted log has the numbers of levels, a log in JSON their names. */
const nameOfLevel = (level: unknown): string => pino.levels.labels[Number(level)] ?? String(level);

/**
 * Creates the log of the process, on stderr (stdout carries the results of commands). It redacts nothing, so secrets must
 * not be passed to it.
 * @param options.pretty readable lines for a terminal instead of JSON lines
 * @param options.isSent each line is also a record of OpenTelemetry
 */
export const createLogger = (
  level: string,
  options: { pretty: boolean; process: string; isSent?: boolean },
): Logger => {
  const base = { process: options.process };
  const write = (line: string, backslash?: string): string => {
    if (options.isSent) emitLogRecord(line, nameOfLevel);
    return escapeUnprintable(line, backslash);
  };
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
        mixin: traceIds,
        hooks: { streamWrite: (line) => write(line) },
      },
      { write: writeToStderr },
    );
  }
  const transport = {
    target: 'pino-pretty',
    options: {
      destination: 2,
      ignore: 'pid,hostname,process,job_id,trace_id,span_id',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
    },
  };
  // pino-pretty decodes one level of escapes.
  const streamWrite = (line: string): string => write(line, '\\\\');
  return pino({ level, base, serializers, transport, mixin: traceIds, hooks: { streamWrite } });
};
