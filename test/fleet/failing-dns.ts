// Loaded first by a worker whose name server is to fail: each SIGUSR2 begins or ends the failure. Every name is that of
// this machine.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

let fails = false;
process.on('SIGUSR2', () => {
  fails = !fails;
});

const lookup = (
  name: string,
  _options: object,
  done: (error: Error | null, addresses?: object[]) => void,
) => {
  const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), {
    code: 'EAI_AGAIN',
    syscall: 'getaddrinfo',
  });
  setImmediate(() => (fails ? done(error) : done(null, [{ address: '127.0.0.1', family: 4 }])));
};
Object.assign(dns, { lookup });
syncBuiltinESMExports();
