import { pipeline, type Readable, Transform } from 'node:stream';

/**
 * Makes a middleware of an AWS client that ends responses of more than `maxBytes`, because the client reads each response
 * into memory, also that of an error.
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
    // The reader of `counted` gets the error.
    if (response.body !== undefined) response.body = pipeline(response.body, counted, () => {});
    return result;
  };

/** The place of this middleware: next to the connection. */
export const BEFORE_ALL_OTHERS = { step: 'deserialize', priority: 'low' } as const;
