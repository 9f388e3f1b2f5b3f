import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { DatabaseRole } from '#db/roles.ts';
import { findConflicts } from '#src/config-conflicts.ts';
import { readSecretFiles } from '#src/config-secrets.ts';
import {
  commaSeparated,
  contact,
  databaseUrl,
  duration,
  flag,
  httpUrlSetting,
  integer,
  isCidr,
  isLoopbackHost,
  isLoopbackUrl,
  isPort,
  isProxy,
  localUrl,
  parsed,
  parseFourEyes,
  parseRoleMap,
  port,
  presentVariables,
  siteUrl,
  timeZone,
  validatedBy,
} from '#src/config-values.ts';
import { displayName } from '#src/contract/application-settings.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { UsageError } from '#src/errors.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { parseStoreLocation, type StoreLocation } from '#src/picture-store/location.ts';
import { PICTURE_BYTES_MAX } from '#src/picture-store/store.ts';
import { parsePrefix, parseRedisUrl } from '#src/queue/redis-url.ts';
import { parseEncryptionKeys } from '#src/sealing/key-ring.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const environmentSchema = z.object({
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_URL_WORKER: databaseUrl.optional(),
  DATABASE_URL_API: databaseUrl.optional(),
  DATABASE_URL_CONSOLE: databaseUrl.optional(),
  DATABASE_URL_MEDIA: databaseUrl.optional(),
  DATABASE_URL_KYC_DESK: databaseUrl.optional(),
  DATABASE_URL_OPERATOR: databaseUrl.optional(),
  DATABASE_URL_OPERATOR_API: databaseUrl.optional(),
  REDIS_URL: validatedBy(parseRedisUrl).optional(),
  QUEUE_PREFIX: parsed(parsePrefix).default('{catalogue}'),
  ENCRYPTION_KEYS: validatedBy(parseEncryptionKeys).optional(),
  API_HOST: z.string().min(1).default('127.0.0.1'),
  API_PORT: port(8080),
  CONSOLE_HOST: z.string().min(1).default('127.0.0.1'),
  CONSOLE_PORT: port(8081),
  CONSOLE_URL: siteUrl.optional(),
  CONSOLE_TRUSTED_PROXIES: commaSeparated(isProxy, 'an address or a network of proxies such as 10.0.0.0/8'),
  PORTAL_CONTACT: contact.optional(),
  KYC_DESK_HOST: z.string().min(1).default('127.0.0.1'),
  KYC_DESK_PORT: port(8082),
  KYC_DESK_URL: siteUrl.optional(),
  OIDC_ISSUER: httpUrlSetting
    .refine((text) => text.startsWith('https:') || isLoopbackUrl(text), 'is not an https address')
    .optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_ROLES_CLAIM: z.string().min(1).default('groups'),
  OIDC_ROLES: parsed(parseRoleMap).optional(),
  GAMES_NEED_VERDICT: flag,
  REVIEW_TARGET: duration('48h', 60_000),
  FOUR_EYES: parsed(parseFourEyes).default(FOUR_EYES_BY_DEFAULT),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  METRICS_PORT: port(9464),
  // OpenTelemetry reads these variables itself; here they only say which signals are sent.
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrlSetting.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrlSetting.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: httpUrlSetting.optional(),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: httpUrlSetting.optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_METRICS_EXPORTER: z.string().optional(),
  OTEL_LOGS_EXPORTER: z.string().optional(),
  OTEL_SDK_DISABLED: flag,
  WEBHOOK_ALLOW_HTTP: flag,
  WEBHOOK_ALLOW_NETWORKS: commaSeparated(isCidr, 'a network such as 10.0.0.0/8'),
  WEBHOOK_DENY_NETWORKS: commaSeparated(isCidr, 'a network such as 10.0.0.0/8'),
  WEBHOOK_PORTS: commaSeparated(isPort, 'a port such as 443').transform((ports) => ports.map(Number)),
  KYC_KEEP_FORMER: duration('400d', DAY_MS),
  KYC_KEEP_REMOVED: duration('30d', DAY_MS),
  PICTURE_KEEP: duration('30d', 60_000),
  PICTURE_RECHECK: duration('7d', 1_000),
  PICTURE_MAX_BYTES: integer(PICTURE_BYTES_MAX, 1, PICTURE_BYTES_MAX),
  PICTURE_STORE: parsed(parseStoreLocation).optional(),
  PICTURE_STORE_ENDPOINT: httpUrlSetting.optional(),
  PICTURE_PUBLIC_URL: httpUrlSetting.optional(),
  WEBHOOK_PROXY: httpUrlSetting.optional(),
  AUDIT_TIME_ZONE: timeZone,
  LOG_LEVEL: z.enum(LOG_LEVELS, `is none of ${LOG_LEVELS.join(', ')}`).default('info'),
  CATALOGUE_HOME: parsed(resolve).prefault('.catalogue'),
  CATALOGUE_OPERATOR: displayName.optional(),
  PAGER: z.string().optional(),
});

/** The names of all settings. */
export const SETTINGS = Object.keys(environmentSchema.shape);

/** Is this signal of OpenTelemetry sent? Not unless a variable names its exporter or endpoint. */
const isSent = (e: z.infer<typeof environmentSchema>, signal: 'TRACES' | 'METRICS' | 'LOGS'): boolean => {
  const exporter = e[`OTEL_${signal}_EXPORTER`];
  const endpoint = e[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? e.OTEL_EXPORTER_OTLP_ENDPOINT;
  return !e.OTEL_SDK_DISABLED && exporter !== 'none' && (exporter ?? endpoint) !== undefined;
};

const storeLocation = (e: z.infer<typeof environmentSchema>): StoreLocation | undefined =>
  e.PICTURE_STORE?.kind === 's3'
    ? { ...e.PICTURE_STORE, endpoint: e.PICTURE_STORE_ENDPOINT }
    : e.PICTURE_STORE;

/**
 * Reads the environment. An empty variable counts as absent, and white space around a value does not count.
 * @throws UsageError with all problems in one message, without the values of secrets
 */
export const readConfig = (env: NodeJS.ProcessEnv = process.env) => {
  const fileProblems: string[] = [];
  const present = readSecretFiles(presentVariables(env), fileProblems);
  const result = environmentSchema.safeParse(present);
  const issues = result.error?.issues ?? [];
  const problems = issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  problems.push(...fileProblems, ...findConflicts(present, SETTINGS));
  if (!result.success || problems.length > 0) {
    throw new UsageError(
      `The environment is invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nSee .env.example.`,
    );
  }
  const e = result.data;
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = e;
  const oidc =
    issuer && clientId && clientSecret && e.OIDC_ROLES
      ? { issuer, clientId, clientSecret, rolesClaim: e.OIDC_ROLES_CLAIM, roles: e.OIDC_ROLES }
      : null;
  return {
    databaseUrl: e.DATABASE_URL,
    databaseUrls: {
      worker: e.DATABASE_URL_WORKER,
      api: e.DATABASE_URL_API,
      console: e.DATABASE_URL_CONSOLE,
      media: e.DATABASE_URL_MEDIA,
      kyc_desk: e.DATABASE_URL_KYC_DESK,
      operator: e.DATABASE_URL_OPERATOR,
      operator_api: e.DATABASE_URL_OPERATOR_API,
    } satisfies Record<DatabaseRole, string | undefined>,
    redisUrl: e.REDIS_URL,
    queuePrefix: e.QUEUE_PREFIX,
    encryptionKeys: e.ENCRYPTION_KEYS,
    api: { host: e.API_HOST, port: e.API_PORT },
    console: {
      host: e.CONSOLE_HOST,
      port: e.CONSOLE_PORT,
      /** Public address, for links and redirects. */
      url: e.CONSOLE_URL ?? localUrl(e.CONSOLE_HOST, e.CONSOLE_PORT),
      isPublic: e.CONSOLE_URL !== undefined,
      trustedProxies: e.CONSOLE_TRUSTED_PROXIES,
      /** The link by which developers write to the operators. */
      contact: e.PORTAL_CONTACT,
      oidc,
    },
    /** `url`: the public address. Sign-in by OIDC needs it. */
    kycDesk: { host: e.KYC_DESK_HOST, port: e.KYC_DESK_PORT, url: e.KYC_DESK_URL },
    kycRetention: { formerMs: e.KYC_KEEP_FORMER, removedMs: e.KYC_KEEP_REMOVED },
    fourEyes: e.FOUR_EYES,
    /** `migrate` writes them into the database, where they hold for every process. An absent one stays as it is there. */
    decisionRules: {
      games_need_verdict: present.GAMES_NEED_VERDICT === undefined ? undefined : e.GAMES_NEED_VERDICT,
      review_target_ms: present.REVIEW_TARGET === undefined ? undefined : e.REVIEW_TARGET,
    },
    metrics: { host: e.METRICS_HOST, port: e.METRICS_PORT },
    telemetry: { traces: isSent(e, 'TRACES'), metrics: isSent(e, 'METRICS'), logs: isSent(e, 'LOGS') },
    webhooks: {
      allowHttp: e.WEBHOOK_ALLOW_HTTP,
      allowNetworks: e.WEBHOOK_ALLOW_NETWORKS,
      denyNetworks: e.WEBHOOK_DENY_NETWORKS,
      ports: e.WEBHOOK_PORTS,
      proxy: e.WEBHOOK_PROXY,
    },
    pictures: {
      keepMs: e.PICTURE_KEEP,
      recheckMs: e.PICTURE_RECHECK,
      maxBytes: e.PICTURE_MAX_BYTES,
      store: storeLocation(e),
      /** Where the store's pictures of passed games are, for readers of group A. */
      publicUrl: e.PICTURE_PUBLIC_URL?.replace(/\/+$/, ''),
      /** Does the API serve the pictures itself? */
      isServedHere: false,
    },
    auditTimeZone: e.AUDIT_TIME_ZONE,
    logLevel: e.LOG_LEVEL,
    home: e.CATALOGUE_HOME,
    operator: e.CATALOGUE_OPERATOR,
    pager: e.PAGER,
  };
};

/** Settings of a process; `.env.example` documents their units and defaults. */
export type Config = ReturnType<typeof readConfig>;

/** The public address of a site, or where it listens. */
export const addressOf = ({
  url,
  host,
  port,
}: {
  url?: string | undefined;
  host: string;
  port: number;
}): string => url ?? localUrl(host, port);

/** The configuration of one process: `databaseUrl` is the URL of its role, else DATABASE_URL. */
export const configFor = (config: Config, role: DatabaseRole): Config => ({
  ...config,
  databaseUrl: config.databaseUrls[role] ?? config.databaseUrl,
});

/**
 * The URL of the operator API. Undefined: the API serves applications alone, because it has a role of its own that may not
 * do what operators do.
 */
export const operatorApiUrl = ({ databaseUrls }: Config, databaseUrl: string): string | undefined =>
  databaseUrls.operator_api ?? (databaseUrls.api === undefined ? databaseUrl : undefined);

/**
 * The configuration of processes on the embedded Postgres: they keep pictures beside it, and the API serves them, unless
 * variables say otherwise.
 */
export const embeddedConfig = (config: Config): Config => {
  const { pictures, api, home } = config;
  if (config.databaseUrl !== undefined || pictures.store !== undefined) return config;
  const store: StoreLocation = { kind: 'file', directory: join(home, 'pictures') };
  // Readers on other machines need an address that they reach.
  const isServedHere = pictures.publicUrl === undefined && isLoopbackHost(api.host);
  return { ...config, pictures: { ...pictures, store, isServedHere } };
};
