import { resolve } from 'node:path';
import { z } from 'zod';
import { UsageError } from '#src/errors.ts';
import { parsePrefix, parseRedisUrl } from '#src/queue/redis-url.ts';
import { parseEncryptionKeys } from '#src/sealing/key-ring.ts';
import { parseNetwork } from '#src/webhooks/networks.ts';

const FLAGS: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };

const flag = z
  .string()
  .default('false')
  .transform((text, context) => {
    const value = FLAGS[text.toLowerCase()];
    if (value !== undefined) return value;
    context.addIssue('is neither true nor false');
    return z.NEVER;
  });

const port = (fallback: number) => {
  const error = 'is not a port number';
  return z.coerce.number(error).int(error).min(0, error).max(65_535, error).default(fallback);
};

/** Parses with a function that throws; its message becomes the issue. */
const parsed = <Out>(parse: (text: string) => Out) =>
  z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message.replace(/^[A-Z_]+:? /, '') : 'is not valid');
      return z.NEVER;
    }
  });

/** Validates with a function that throws, and keeps the text. */
const validatedBy = (parse: (text: string) => unknown) =>
  parsed((text) => {
    parse(text);
    return text;
  });

/** A comma-separated list. Reports each invalid entry. */
const commaSeparated = (isEntry: (text: string) => boolean, what: string) =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .superRefine((list, context) => {
      for (const entry of list) if (!isEntry(entry)) context.addIssue(`"${entry}" is not ${what}`);
    });

const isCidr = (text: string): boolean => text.includes('/') && parseNetwork(text) !== null;

/** Rejects a prefix of 0: it would trust the `X-Forwarded-For` of any client. */
const isProxy = (text: string): boolean => (parseNetwork(text)?.prefix ?? 0) > 0;

const succeeds = (work: () => unknown): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

const timeZone = z
  .string()
  .default('UTC')
  .refine((zone) => succeeds(() => new Intl.DateTimeFormat('en', { timeZone: zone })), {
    error: 'is not a time zone such as UTC or Asia/Shanghai',
  });

const databaseUrl = z
  .string()
  .refine((text) => /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'is not postgres://user:password@host:5432/database',
    abort: true,
  })
  .refine((text) => succeeds(() => decodeURIComponent(text)), {
    error: 'has a "%" that is not percent-encoded: write it as %25',
  });

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const environmentSchema = z.object({
  DATABASE_URL: databaseUrl.optional(),
  REDIS_URL: validatedBy(parseRedisUrl).optional(),
  QUEUE_PREFIX: parsed(parsePrefix).default('{catalogue}'),
  ENCRYPTION_KEYS: validatedBy(parseEncryptionKeys).optional(),
  API_HOST: z.string().min(1).default('127.0.0.1'),
  API_PORT: port(8080),
  BOARD_HOST: z.string().min(1).default('127.0.0.1'),
  BOARD_PORT: port(8081),
  BOARD_USER: z.string().min(1).optional(),
  BOARD_PASSWORD: z.string().min(1).optional(),
  BOARD_READ_ONLY: flag,
  BOARD_TRUSTED_PROXIES: commaSeparated(isProxy, 'an address or a network of proxies such as 10.0.0.0/8'),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  METRICS_PORT: port(9464),
  // OpenTelemetry reads these variables itself; here they only enable tracing.
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_SDK_DISABLED: flag,
  WEBHOOK_ALLOW_HTTP: flag,
  WEBHOOK_ALLOW_NETWORKS: commaSeparated(isCidr, 'a network such as 10.0.0.0/8'),
  AUDIT_TIME_ZONE: timeZone,
  LOG_LEVEL: z.enum(LOG_LEVELS, `is none of ${LOG_LEVELS.join(', ')}`).default('info'),
  CATALOGUE_HOME: z
    .string()
    .min(1)
    .default('.catalogue')
    .transform((path) => resolve(path)),
});

/** Tracing is off unless a variable names an exporter or endpoint. */
const isTracingEnabled = (e: z.infer<typeof environmentSchema>): boolean =>
  !e.OTEL_SDK_DISABLED &&
  e.OTEL_TRACES_EXPORTER !== 'none' &&
  (e.OTEL_TRACES_EXPORTER ?? e.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? e.OTEL_EXPORTER_OTLP_ENDPOINT) !==
    undefined;

/** @returns the problems of variables that conflict */
const findConflicts = (present: NodeJS.ProcessEnv): string[] => {
  const problems: string[] = [];
  if ((present.BOARD_USER === undefined) !== (present.BOARD_PASSWORD === undefined)) {
    problems.push('BOARD_USER and BOARD_PASSWORD go together: set both or neither');
  }
  if (present.REDIS_URL !== undefined && present.DATABASE_URL === undefined) {
    problems.push('REDIS_URL is set without DATABASE_URL: a fleet needs both, the embedded default neither');
  }
  if (present.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED is 0: it would send access tokens to unverified servers; unset it',
    );
  }
  return problems;
};

/**
 * Reads the environment. An empty variable counts as absent.
 * @throws UsageError with all problems in one message, without the values of secrets
 */
export const readConfig = (env: NodeJS.ProcessEnv = process.env) => {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = environmentSchema.safeParse(present);
  const issues = result.error?.issues ?? [];
  const problems = issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  problems.push(...findConflicts(present));
  if (!result.success || problems.length > 0) {
    throw new UsageError(
      `The environment is invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nSee .env.example.`,
    );
  }
  const e = result.data;
  const login =
    e.BOARD_USER !== undefined && e.BOARD_PASSWORD !== undefined
      ? { user: e.BOARD_USER, password: e.BOARD_PASSWORD }
      : null;
  return {
    databaseUrl: e.DATABASE_URL,
    redisUrl: e.REDIS_URL,
    queuePrefix: e.QUEUE_PREFIX,
    encryptionKeys: e.ENCRYPTION_KEYS,
    api: { host: e.API_HOST, port: e.API_PORT },
    board: {
      host: e.BOARD_HOST,
      port: e.BOARD_PORT,
      login,
      readOnly: e.BOARD_READ_ONLY,
      trustedProxies: e.BOARD_TRUSTED_PROXIES,
    },
    metrics: { host: e.METRICS_HOST, port: e.METRICS_PORT },
    tracing: isTracingEnabled(e),
    webhooks: { allowHttp: e.WEBHOOK_ALLOW_HTTP, allowNetworks: e.WEBHOOK_ALLOW_NETWORKS },
    auditTimeZone: e.AUDIT_TIME_ZONE,
    logLevel: e.LOG_LEVEL,
    home: e.CATALOGUE_HOME,
  };
};

/** Units and defaults: `.env.example`. */
export type Config = ReturnType<typeof readConfig>;

/** Loads `.env` of the working directory. Variables that the environment sets take precedence. */
export const loadDotEnv = (): void => {
  try {
    process.loadEnvFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new UsageError(`The file .env of this directory cannot be read (${code}).`);
  }
};

/** Reads a secret from the variable that a command names (`--access-token-env`). */
export const readSecretVariable = (name: string): string | undefined => process.env[name] || undefined;
