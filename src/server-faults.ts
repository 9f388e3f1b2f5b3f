/** `what`: what is wrong with Postgres or Redis, with the code of the reply. `next`: what an operator does about it. */
export type ServerFault = { what: string; next: string };

type Words = readonly [what: string, next: string];

const CHECK_REDIS =
  'Check REDIS_URL, that the server runs and has a connection left (maxclients), and the network to it.';

/** Whose setting makes Postgres read-only, and what resets it. */
const READ_ONLY_SETTING = [
  'default_transaction_read_only is on:',
  'of the role (catalogue migrate resets it), or of the database or the server (alter database, alter system … reset)',
].join(' ');

/** By SQLSTATE. */
const POSTGRES: Readonly<Record<string, Words>> = {
  '25006': [
    'Postgres is read-only',
    `This server is a replica: point the URL to the primary. Or ${READ_ONLY_SETTING}. Then restart the process.`,
  ],
  '28000': [
    'Postgres refuses the role from this address',
    'Add a line for the role, the database and the address to pg_hba.conf, or check the URL of the process.',
  ],
  '28P01': [
    'Postgres refuses the password of the role',
    'Set the password in the URL of the process, or run catalogue migrate, which sets that of each role from its URL.',
  ],
  '42501': [
    'Postgres denies the role of the process a right',
    'Check that the URL is not that of another process; catalogue migrate grants the rights.',
  ],
  '53100': ['the disk of Postgres is full', 'Free or add disk space on the server of Postgres.'],
  '53200': ['Postgres has no free memory', 'Add memory to the server of Postgres, or lower its work_mem.'],
  '53300': [
    'Postgres accepts no further connection',
    'Raise max_connections, or run fewer processes: docs/operate.md has the connections of each.',
  ],
  '57014': ['Postgres cancelled the statement because it took too long', 'Look for locks and slow disks.'],
  '57P01': [
    'an administrator ended the session',
    'Retry. If Postgres was not restarted, find who ended the session.',
  ],
  '57P03': ['Postgres starts or stops', 'Wait until it accepts connections.'],
};

/** More exact words for a code of Postgres whose message matches the pattern. */
const POSTGRES_CLOSER: readonly { code: string; message: RegExp; words: Words }[] = [
  {
    code: '08P01',
    message: /startup parameter/,
    words: [
      'a pooler is in front of Postgres',
      'Connect to Postgres itself: a session of the catalogue has limits and locks of its own, which PgBouncer does not keep.',
    ],
  },
  {
    code: '28000',
    message: /not permitted to log in|does not exist/,
    words: [
      'Postgres has no role of this name that may log in',
      'Check the user of the URL. alter role … login permits the login; catalogue migrate creates missing roles.',
    ],
  },
  {
    code: '53200',
    message: /shared memory/,
    words: [
      'Postgres has no room for a further lock',
      'No new session connects: kill the process of a long transaction on its server, or raise max_locks_per_transaction.',
    ],
  },
  {
    code: '53300',
    message: /for role/,
    words: [
      'Postgres accepts no further connection of this role',
      'Run fewer processes with the URL of this one, or raise max_connections and run catalogue migrate, which limits each role.',
    ],
  },
  {
    code: '53300',
    message: /for database/,
    words: [
      'Postgres accepts no further connection to this database',
      'Raise the limit of the database: alter database … connection limit -1.',
    ],
  },
  {
    code: '55000',
    message: /not currently accepting connections/,
    words: [
      'the database accepts no connections',
      'An administrator closed it, as before a restore: alter database … allow_connections true opens it.',
    ],
  },
];

/** By the first word of a reply. */
const REDIS: Readonly<Record<string, Words>> = {
  BUSY: ['Redis runs a script that does not end', 'Look at its log.'],
  CLUSTERDOWN: [
    'the cluster does not serve every slot',
    'Look at CLUSTER INFO: a master without a replica is down, or slots have no node.',
  ],
  LOADING: ['Redis loads its data', 'Wait until it has ended.'],
  MASTERDOWN: ['Redis is a replica without its master', 'Start the master, or promote the replica.'],
  MISCONF: ['Redis cannot save its data to disk', 'Look at its log and at its disk.'],
  NOAUTH: ['Redis requires a password', 'Add the password to REDIS_URL.'],
  NOPERM: [
    'Redis does not allow its user this command',
    'Grant the user of REDIS_URL what docker-compose.yml grants that of this process, or ~* &* +@all if all processes share it.',
  ],
  NOREPLICAS: ['Redis has too few replicas to accept writes', 'Start its replicas (min-replicas-to-write).'],
  OOM: ['the memory of Redis is full', 'Raise maxmemory. catalogue queue status shows which queue is long.'],
  READONLY: ['Redis is a replica and accepts no writes', 'Point REDIS_URL to the master.'],
  WRONGTYPE: [
    'another program wrote to the keys of the queues',
    'Give the catalogue a Redis, or a QUEUE_PREFIX, of its own, and delete the keys of the queues: workers add the jobs again.',
  ],
  WRONGPASS: ['Redis refuses the user or the password', 'Check the user and the password of REDIS_URL.'],
};

/** Errors of the drivers that have no code, by `name: message`. */
const DRIVERS: readonly (readonly [pattern: RegExp, ...words: Words])[] = [
  [/^Error: Command timed out$/, 'Redis did not answer in time', CHECK_REDIS],
  [/^MaxRetriesPerRequestError: /, 'Redis is unreachable', CHECK_REDIS],
  [
    /^(Abort)?Error: (Command aborted due to )?connection (is closed|close)/i,
    'the connection to Redis is closed',
    CHECK_REDIS,
  ],
  [
    /^ClusterAllFailedError: |^Error: None of startup nodes/,
    'no node of the Redis cluster answers',
    CHECK_REDIS,
  ],
  [
    /^Error: Too many Cluster redirections/,
    'the Redis cluster moves the slot of the queues',
    'Wait until the cluster has settled.',
  ],
  [
    /^Error: (timeout exceeded when trying to connect|Connection terminated)/,
    'Postgres is unreachable',
    'Check DATABASE_URL, that the server runs, and the network to it.',
  ],
];

/** By the code of an error of a TLS connection. */
const TLS: readonly (readonly [pattern: RegExp, ...words: Words])[] = [
  [
    /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/,
    'the certificate of the server is of no authority that this process trusts',
    'Name the file with the certificate of its authority in NODE_EXTRA_CA_CERTS.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'the certificate of the server does not name the host of the URL',
    'Use a host in the URL that the certificate names.',
  ],
  [
    /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    'the certificate of the server is not valid now',
    'Renew it, and check the clocks.',
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    'the server does not speak TLS at this port',
    'Switch TLS on at the server, or check the port of the URL.',
  ],
];

/** Finds why a TLS connection to Postgres or Redis was not made. @returns undefined for other errors */
export const findTlsFault = (error: Error): ServerFault | undefined => {
  const { code } = error as { code?: unknown };
  const found = typeof code === 'string' ? TLS.find(([pattern]) => pattern.test(code)) : undefined;
  return found && { what: `${found[1]} (${code})`, next: found[2] };
};

/** Since Redis 7, a refused command of a script has the code ERR: the words of 7.0, then those of 7.2 and newer. */
const DENIED_IN_SCRIPT = /^ERR (The user executing the script can't|ACL failure in script)/;

/** Finds the words of a code, or more exact ones if the message says more. */
const findWords = (code: string, { message }: Error): Words | undefined => {
  const closer = POSTGRES_CLOSER.find((each) => each.code === code && each.message.test(message));
  const words = closer?.words ?? REDIS[code] ?? POSTGRES[code];
  if (code !== 'NOPERM' || words === undefined) return words;
  const command = /run the '([a-z|]+)' command/.exec(message)?.[1];
  if (command !== undefined) return [`Redis does not allow its user the command ${command}`, words[1]];
  return /access .*\bkeys?\b/.test(message)
    ? [
        'Redis does not allow its user a key of this command',
        `${words[1]} Or set QUEUE_PREFIX to that of the other processes.`,
      ]
    : words;
};

/** @returns the code of an error of Postgres or Redis: a SQLSTATE, or the first word of a reply */
const replyCode = (error: Error): string | undefined => {
  if (error.name === 'ReplyError')
    return DENIED_IN_SCRIPT.test(error.message) ? 'NOPERM' : /^[A-Z]+/.exec(error.message)?.[0];
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.length === 5 ? code : undefined;
};

/** Finds what is wrong with Postgres or Redis. @returns undefined for other errors, and for errors that have no words */
export const findServerFault = (error: Error): ServerFault | undefined => {
  // If Redis discarded a transaction, ioredis keeps the replies that say why.
  const [cause] = (error as { previousErrors?: Error[] }).previousErrors ?? [];
  if (cause !== undefined) return findServerFault(cause);
  const code = replyCode(error);
  const words = code === undefined ? undefined : findWords(code, error);
  if (words !== undefined) return { what: `${words[0]} (${code})`, next: words[1] };
  const tls = findTlsFault(error);
  if (tls !== undefined) return tls;
  const text = `${error.name}: ${error.message}`;
  const found = DRIVERS.find(([pattern]) => pattern.test(text));
  return found && { what: found[1], next: found[2] };
};

/** The same in two sentences: what is wrong, and what to do. */
export const explainServerFault = (error: Error): string | undefined => {
  const fault = findServerFault(error);
  return fault && `${fault.what}. ${fault.next}`;
};
