import { pipeline, type Readable, Transform } from 'node:stream';

/**
 * A step of a client of AWS, beside its connection: ends responses of more than `maxBytes`. The client reads each into
 * memory, also that of an error.
 */
export const boundResponse =
  (maxBytes: number) =>
  <Args, Result extends { response: unknown }>(next: (args: Args) => Promise<Result>) =>
  async (args: Args): Promise<Result> => {
    const result = await next(args);
    const response = result.response as { body?: Readable };
    let bytes = 0;
    const counted = new Transform({
      transform: (piece: Buffer, _, done) => {
        bytes += piece.length;
        done(bytes > maxBytes ? new Error(`a response of more than ${maxBytes} bytes`) : null, piece);
      },
    });
    // Who reads `counted` gets the error.
    if (response.body !== undefined) response.body = pipeline(response.body, counted, () => {});
    return result;
  };

/** Where the step is. */
export const BEFORE_ALL_OTHERS = { step: 'deserialize', priority: 'low' } as const;
