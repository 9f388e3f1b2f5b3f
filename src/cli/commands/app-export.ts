import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type ApplicationRow, listApplications } from '#db/queries/applications.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { applicationSettings, toColumns } from '#src/contract/application-settings.ts';
import { SETTING_DEFAULTS } from '#src/contract/words.ts';
import { toApplicationDocument } from '#src/lists/applications.ts';

type Setting = keyof typeof applicationSettings.shape;
const SETTINGS = Object.keys(applicationSettings.shape) as Setting[];

/** The settings of an application that have another value than their default. */
const chosenSettings = (row: ApplicationRow): object => {
  const document = toApplicationDocument(row);
  const byDefault: object = toColumns(applicationSettings.partial().parse(SETTING_DEFAULTS));
  const isChosen = (setting: Setting): boolean => {
    const column = setting in row ? setting : `${setting}_ms`;
    const [value, other] = [row[column as keyof ApplicationRow], byDefault[column as keyof object]];
    return setting === 'volatile_parameters'
      ? row.volatile_parameters.length > 0
      : JSON.stringify(value) !== JSON.stringify(other);
  };
  return Object.fromEntries(SETTINGS.filter(isChosen).map((setting) => [setting, document[setting]]));
};

/** Defines `app export`: writes what is there as the file of `apply`. */
export const defineExport = (app: CommandUnknownOpts): void =>
  defineCommand(app, 'export', {
    summary: 'write applications and reasons as the file of apply',
    details:
      'Without access tokens: apply keeps those of applications that are there. Settings that have their default are left out. --json prints the same as JSON, which apply reads too.',
    examples: ['app export > catalogue.yaml'],
    run: async ({ openDatabase, out }) => {
      const { stringify } = await import('yaml');
      const sql = await openDatabase();
      const applications = (await listApplications(sql)).map((row) => [
        row.application_id,
        chosenSettings(row),
      ]);
      const reasons = (await listReasons(sql))
        .filter(({ retired_at }) => retired_at === null)
        .map(({ code, label, text }) => [code, text === '' ? { label } : { label, text }]);
      const file = {
        applications: Object.fromEntries(applications),
        reasons: Object.fromEntries(reasons),
      };
      out.answer(file, ...stringify(file, { lineWidth: 0 }).trimEnd().split('\n'));
    },
  });
