import { pipeline, type Readable, Transform } from 'node:stream';

/**
 * Makes a middleware of an AWS client that ends responses of more than `maxBytes`, because the client reads and parses each
 * response in memory, also that of an error. Only the bytes of an object are not parsed; their reader bounds them.
 */
export const boundResponse =
  (maxBytes: number) =>
  <Args, Result extends { response: unknown }>(
    next: (args: Args) => Promise<Result>,
    { commandName }: { commandName?: string },
  ) =>
  async (args: Args): Promise<Result> => {
    const result = await next(args);
    const response = result.response as { statusCode: number; body?: Readable };
    if (response.body === undefined || (commandName === 'GetObjectCommand' && response.statusCode === 200))
      return result;
    let bytes = 0;
    const counted = new Transform({
      transform: (piece: Buffer, _, done) => {
        bytes += piece.length;
        done(bytes > maxBytes ? new Error(`a response of more than ${maxBytes} bytes`) : null, piece);
      },
    });
    // The reader of `counted` gets the error.
    response.body = pipeline(response.body, counted, () => {});
    return result;
  };

/** The place of this middleware: next to the connection. */
export const BEFORE_ALL_OTHERS = { step: 'deserialize', priority: 'low' } as const;

/**
 * The code of an error of an AWS client, else its name. Not its message, which may quote the request.
 * @returns `unknown` for what the service calls a code and is none
 */
export const codeOfService = (error: Error & { code?: unknown }): string => {
  const code = typeof error.code === 'string' ? error.code : error.name;
  return /^\w{1,64}$/.test(code) ? code : 'unknown';
};
