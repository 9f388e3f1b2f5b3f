/** A server of the S3 protocol as a process of its own, to be killed: `s3-process.ts DIRECTORY PORT BUCKET`. */
import S3rver from 's3rver';

const [directory = '', port = '0', bucket = ''] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  directory,
  silent: true,
  configureBuckets: [{ name: bucket, configs: [] }],
});
const address = await server.run();
if (process.connected) process.send?.({ port: address.port });
