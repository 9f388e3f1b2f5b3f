import { isLoopbackHost } from '#src/config-values.ts';

/** Is one of the servers on another machine? Without a host, the connection is a socket file of this machine. */
const leavesMachine = (url: string): boolean => {
  const [, hosts = ''] = /^[^:]+:\/\/(?:[^@/]*@)?([^/?#]*)/.exec(url) ?? [];
  return hosts.split(',').some((host) => host !== '' && !isLoopbackHost(host.replace(/:\d+$/, '')));
};

const isVerified = (databaseUrl: string): boolean => /[?&]sslmode=verify-full(&|$)/.test(databaseUrl);

/** The warnings about connections of this process that leave the machine without TLS (OWASP ASVS 12.3.1). */
export const plainConnectionWarnings = (databaseUrl: string, redisUrl: string | undefined): string[] => {
  const warnings: string[] = [];
  if (leavesMachine(databaseUrl) && !isVerified(databaseUrl))
    warnings.push(
      'DATABASE_URL connects to another machine without TLS: the network between can read and change all data. Add sslmode=verify-full.',
    );
  if (redisUrl !== undefined && leavesMachine(redisUrl) && !redisUrl.startsWith('rediss'))
    warnings.push(
      'REDIS_URL connects to another machine without TLS: the network between can read and change all jobs. Write rediss://.',
    );
  return warnings;
};
