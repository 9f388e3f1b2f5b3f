import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { BY } from '#src/cli/kit/parsers.ts';
import { reasonList } from '#src/lists/reasons.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';

const CODE = ['<code>', 'such as broken_media'] as const;

/** `catalogue reason …` */
export const register = (program: Command): void => {
  const reason = program.command('reason');

  defineListCommand(reason, 'list', reasonList, {
    summary: 'list the reasons for which games are rejected',
    examples: ['reason list', 'reason list --search rights --json'],
    paged: false,
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(reason, 'add', {
    summary: 'add a reason, or change the words of one and bring it back',
    examples: ['reason add gambling --label "Games of chance" --text "Remove the slot machine." --by kim'],
    parameters: (command) =>
      command
        .argument(...CODE)
        .requiredOption('--label <text>', "what the application's developer reads")
        .option('--text <text>', 'what a rejection begins with; the reviewer may change it')
        .requiredOption(...BY),
    run: async ({ operate, out }, code, { label, text, by }) => {
      const row = await operate(addReason, { code, label, text }, { by });
      out.answer(row, `${row.code}: ${row.label}`);
    },
  });

  defineCommand(reason, 'retire', {
    summary: 'offer a reason no more; decisions that name it keep it',
    examples: ['reason retire gambling --by kim'],
    parameters: (command) => command.argument(...CODE).requiredOption(...BY),
    run: async ({ operate, out }, code, { by }) => {
      const row = await operate(retireReason, { code }, { by });
      out.answer(row, `${row.code} is retired.`);
    },
  });
};
