declare module 's3rver' {
  type Options = {
    address: string;
    port: number;
    directory: string;
    silent: boolean;
    configureBuckets: { name: string; configs: string[] }[];
  };
  /** It comes without types. */
  class S3rver {
    constructor(options: Options);
    run: () => Promise<{ port: number }>;
  }

  export { S3rver as default };
}
