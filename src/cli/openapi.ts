import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/command.ts';

const SUMMARIES = {
  platform: 'the operations that the platform offers to applications',
  application: 'the webhooks that an application implements',
};

const createDocument = async (name: string): Promise<object> =>
  name === 'platform'
    ? (await import('#src/contract/openapi-platform.ts')).openapiPlatform()
    : (await import('#src/contract/openapi-application.ts')).openapiApplication();

/** `catalogue openapi …`: prints JSON, on one line with `--json`. */
export const register = (program: Command): void => {
  const openapi = program.command('openapi');
  for (const [name, summary] of Object.entries(SUMMARIES)) {
    defineCommand(openapi, name, {
      summary,
      examples: [`openapi ${name} > ${name}.json`],
      run: async ({ out }) => {
        const document = await createDocument(name);
        out.answer(document, ...JSON.stringify(document, null, 2).split('\n'));
      },
    });
  }
};
