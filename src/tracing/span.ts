import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { coerceError, safeMessage } from '#src/errors.ts';

/** Asks for the tracer that is registered when it is used: none has to be there yet. */
const tracer = trace.getTracer('game-catalogue');

/**
 * Do `work` as a span of the trace that is under way. Where nothing traces, it is done and that is all. Of an
 * error the span keeps what a log may (errors.ts), not its message or stack.
 * @param attributes ids and counts, as in a log
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
