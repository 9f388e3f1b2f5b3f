import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { coerceError, safeMessage } from '#src/errors.ts';

/** May be created before the SDK starts, because it delegates to the tracer that is registered later. */
const tracer = trace.getTracer('game-catalogue');

/**
 * Runs `work` as a span of the current trace; without one it only runs `work`. The span records the safe message of
 * an error (src/errors.ts), not its stack.
 * @param attributes ids and counts only, as in a log
 */
export const inSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: () => Promise<Result>,
): Promise<Result> => {
  if (trace.getActiveSpan() === undefined) return work();
  return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await work();
    } catch (thrown) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: safeMessage(coerceError(thrown)) });
      throw thrown;
    } finally {
      span.end();
    }
  });
};
