import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { coerceError, safeMessage } from '#src/errors.ts';

/** Resolves to the registered tracer when it is used, so that it may be created before. */
const tracer = trace.getTracer('game-catalogue');

/**
 * Runs `work` as a span of the current trace, or just runs it without tracing. The span keeps the safe message of an
 * error (src/errors.ts), without its stack.
 * @param attributes ids and counts only, as in a log
 */
export const inSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: () => Promise<Result>,
): Promise<Result> =>
  tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await work();
    } catch (thrown) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: safeMessage(coerceError(thrown)) });
      throw thrown;
    } finally {
      span.end();
    }
  });
