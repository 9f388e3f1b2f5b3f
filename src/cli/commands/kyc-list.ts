import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type KycListRow, listKycPage } from '#db/queries/kyc-overview.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { searchIn } from '#src/cli/kit/parsers.ts';
import { KYC_STATES } from '#src/contract/words.ts';

/** What a person must look at. */
const formatProblem = ({ reason, refused_cp_id, same_tax_id }: KycListRow): string => {
  const parts = reason === null ? [] : [reason];
  if (refused_cp_id !== null) parts.push(`new cp_id ${refused_cp_id} waits for kyc accept-cp-id`);
  if (same_tax_id.length > 0) parts.push(`same tax_id as ${same_tax_id.join(', ')}`);
  return parts.join('; ');
};

/** Defines `kyc list`: the KYC of every application, without a value of a record. */
export const defineKycList = (kyc: CommandUnknownOpts): void =>
  defineList(kyc, 'list', {
    summary: 'list the KYC state of every application',
    examples: ['kyc list', 'kyc list --status failed'],
    parameters: (command) =>
      command
        .addOption(new Option('--status <state>', 'only of this state').choices(KYC_STATES))
        .option(...searchIn('id or name of the application')),
    order: 'application_id',
    limit: { max: 100_000, byDefault: 1_000 },
    filter: ({ status, search }) => ({ state: status, search }),
    list: listKycPage,
    key: 'kyc',
    columns: [
      'application_id',
      'name',
      'state',
      ['cp_id', 'application_cp_id'],
      ['problem', formatProblem],
      ['record of', 'received_at'],
      ['changed fields', ({ changed_fields }) => changed_fields?.join(', ') ?? ''],
    ],
    empty: 'No application: npx catalogue app add --help',
  });
