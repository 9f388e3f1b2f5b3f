/** What `apply` changes: the difference between a file and what is there. */
import type { Database } from '#db/client.ts';
import { type ApplicationRow, listApplications } from '#db/queries/applications.ts';
import { listReasons } from '#db/queries/reasons.ts';
import type { Wanted, WantedApplication } from '#src/cli/commands/apply-file.ts';
import { applicationSettings, toColumns } from '#src/contract/application-settings.ts';
import { SETTING_DEFAULTS } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { mapConcurrently } from '#src/lib/map-concurrently.ts';
import { addApplication, changeApplication } from '#src/operations/applications.ts';
import { KEY_CALLS, type Planned } from '#src/operations/operate.ts';
import type { AnyOperation } from '#src/operations/operation.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** One line of what is printed: what appears, changes or goes. `fields`: their names, and the values before and after. */
export type Change = {
  sign: '+' | '~' | '-';
  subject: string;
  fields: { field: string; from?: unknown; to: unknown }[];
};
export type Plan = { changes: Change[]; planned: Planned[]; removed: string[] };

const plan = (operation: unknown, given: object): Planned => ({
  operation: operation as AnyOperation,
  given,
});

/** The settings of an application that differ. */
const differingSettings = ({ settings }: WantedApplication, row: ApplicationRow) =>
  (Object.keys(applicationSettings.shape) as (keyof typeof applicationSettings.shape)[]).flatMap((field) => {
    const [[column, to] = []] = Object.entries(toColumns({ [field]: settings[field] }));
    const from = row[column as keyof ApplicationRow];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    return column?.endsWith('_ms')
      ? [{ field, from: formatDuration(Number(from)), to: formatDuration(Number(to)) }]
      : [{ field, from, to }];
  });

const hasToken = async (keys: KeyRing, row: ApplicationRow, token: string): Promise<boolean> => {
  try {
    return (await openAccessToken(keys, row)) === token;
  } catch (error) {
    if (error instanceof KeyError && !error.retryable) return false;
    throw error;
  }
};

/**
 * An address as it is called, because other letters and hidden characters imitate a host. Without what may be secret in it:
 * its query.
 */
const shown = (field: string, value: unknown): unknown =>
  field.endsWith('_webhook')
    ? (URL.parse(String(value))?.href ?? String(value)).replace(/\?.*/, '?…')
    : value;

/** From where an access token is read, as the file names it. */
const sourceOf = ({ access_token_file, access_token_env }: WantedApplication['settings']): string =>
  access_token_file === undefined
    ? `from the variable ${access_token_env}`
    : `from the file ${access_token_file}`;

const planApplication = async (
  wanted: WantedApplication,
  row: ApplicationRow | undefined,
  openKeys: () => Promise<KeyRing>,
): Promise<{ change: Change; planned: Planned } | undefined> => {
  const { application_id, given: all, readToken } = wanted;
  const { access_token_file: _file, access_token_env: _env, ...given } = all;
  const token = await readToken?.();
  const subject = `application ${application_id}`;
  if (row === undefined) {
    if (token === undefined)
      throw new UsageError(
        `${application_id} is new: give it access_token_file or access_token_env. Nothing was changed.`,
      );
    return {
      change: {
        sign: '+',
        subject,
        fields: [
          ...Object.entries(given).map(([field, to]) => ({ field, to: shown(field, to) })),
          { field: 'access_token', to: sourceOf(wanted.settings) },
        ],
      },
      planned: plan(addApplication, { ...given, application_id, access_token: token }),
    };
  }
  const fields = differingSettings(wanted, row);
  const isNewToken = token !== undefined && !(await hasToken(await openKeys(), row, token));
  if (fields.length === 0 && !isNewToken) return undefined;
  const values = fields.map(({ field }) => [
    field,
    given[field] ?? SETTING_DEFAULTS[field as keyof typeof SETTING_DEFAULTS],
  ]);
  const moved = fields.some(({ field }) => field.endsWith('_webhook'));
  return {
    change: {
      sign: '~',
      subject,
      fields: [
        ...fields.map(({ field, from, to }) => ({ field, from: shown(field, from), to: shown(field, to) })),
        ...(isNewToken ? [{ field: 'access_token', to: `another one, ${sourceOf(wanted.settings)}` }] : []),
      ],
    },
    planned: plan(changeApplication, {
      application_id,
      ...Object.fromEntries(values),
      // An address at another origin takes the token again.
      ...((isNewToken || moved) && token !== undefined && { access_token: token }),
    }),
  };
};

/** Compares a file with what is there. @param prune also removes what the parts of the file do not name */
export const planChanges = async (
  sql: Database,
  wanted: Wanted,
  openKeys: () => Promise<KeyRing>,
  prune: boolean,
): Promise<Plan> => {
  const rows = new Map((await listApplications(sql)).map((row) => [row.application_id, row]));
  const reasons = new Map((await listReasons(sql)).map((row) => [row.code, row]));
  const found: Plan = { changes: [], planned: [], removed: [] };
  // A token that is there already is opened, to be compared.
  const plans = await mapConcurrently(wanted.applications ?? [], KEY_CALLS, (application) =>
    planApplication(application, rows.get(application.application_id), openKeys),
  );
  for (const one of plans) {
    if (one === undefined) continue;
    found.changes.push(one.change);
    found.planned.push(one.planned);
  }
  for (const reason of wanted.reasons ?? []) {
    const row = reasons.get(reason.code);
    const isRetired = row !== undefined && row.retired_at !== null;
    const fields = (['label', 'text'] as const).flatMap((field) =>
      row === undefined || row[field] === reason[field]
        ? []
        : [{ field, from: row[field], to: reason[field] }],
    );
    if (row !== undefined && !isRetired && fields.length === 0) continue;
    found.changes.push({
      sign: row === undefined || isRetired ? '+' : '~',
      subject: `reason ${reason.code}`,
      fields,
    });
    found.planned.push(plan(addReason, reason));
  }
  if (!prune) return found;
  const ids = wanted.applications && new Set(wanted.applications.map(({ application_id }) => application_id));
  const codes = wanted.reasons && new Set(wanted.reasons.map(({ code }) => code));
  for (const { code, retired_at } of reasons.values()) {
    if (retired_at !== null || codes?.has(code) !== false) continue;
    found.changes.push({ sign: '-', subject: `reason ${code}`, fields: [] });
    found.planned.push(plan(retireReason, { code }));
  }
  for (const application_id of rows.keys()) {
    if (ids?.has(application_id) !== false) continue;
    found.changes.push({ sign: '-', subject: `application ${application_id}`, fields: [] });
    found.removed.push(application_id);
  }
  return found;
};
