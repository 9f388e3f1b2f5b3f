import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';

/** The summary of each document, and the function that makes it. */
const DOCUMENTS: Record<string, [string, () => Promise<object>]> = {
  platform: [
    'the operations that the platform offers to applications',
    async () => (await import('#src/contract/openapi-platform.ts')).openapiPlatform(),
  ],
  operator: [
    'the operator API: what operators do and see, for machines',
    async () => (await import('#src/api/openapi-operator.ts')).openapiOperator(),
  ],
  application: [
    'the webhooks that an application implements',
    async () => (await import('#src/contract/openapi-application.ts')).openapiApplication(),
  ],
};

/** `catalogue openapi …`: prints JSON, on one line with `--json`. */
export const register = (program: Command): void => {
  const openapi = program.command('openapi');
  for (const [name, [summary, createDocument]] of Object.entries(DOCUMENTS)) {
    defineCommand(openapi, name, {
      summary,
      examples: [`openapi ${name} > ${name}.json`],
      run: async ({ out }) => {
        const document = await createDocument();
        out.answer(document, ...JSON.stringify(document, null, 2).split('\n'));
      },
    });
  }
};
