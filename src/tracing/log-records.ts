import { logs, SeverityNumber, trace } from '@opentelemetry/api';

/** pino's levels. */
const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Returns the ids of the active trace for a line of the log; nothing without a trace. */
export const traceIds = (): { trace_id?: string; span_id?: string } => {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
};

/**
 * Sends a line of the log as a record of OpenTelemetry, in the trace that is active.
 * @param line JSON
 * @param nameOf the name of a level, which may be a number
 */
export const emitLogRecord = (line: string, nameOf: (level: unknown) => string): void => {
  const { level, msg, time, trace_id: _trace, span_id: _span, ...attributes } = JSON.parse(line);
  const name = nameOf(level);
  logs.getLogger('game-catalogue').emit({
    severityNumber: SEVERITIES[name] ?? SeverityNumber.UNSPECIFIED,
    severityText: name,
    body: msg,
    timestamp: new Date(time),
    attributes,
  });
};
