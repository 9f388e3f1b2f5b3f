import type { Command } from '@commander-js/extra-typings';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';

const DOCUMENTS = [
  {
    name: 'platform',
    summary: 'the operations that the platform offers to applications',
    load: async () => (await import('#src/contract/openapi-platform.ts')).openapiPlatform(),
  },
  {
    name: 'application',
    summary: 'the webhooks that an application implements',
    load: async () => (await import('#src/contract/openapi-application.ts')).openapiApplication(),
  },
];

/** `catalogue openapi …`: prints JSON, on one line with `--json`. */
export const register = (program: Command): void => {
  const openapi = program.command('openapi').description(SUMMARIES.openapi);
  for (const { name, summary, load } of DOCUMENTS) {
    defineCommand(openapi, name, { summary, examples: [`openapi ${name} > ${name}.json`] }).action(
      withContext(async ({ out }) => {
        const document = await load();
        out.answer(document, ...JSON.stringify(document, null, 2).split('\n'));
      }),
    );
  }
};
