import type { Command } from 'commander';
import { act, defineCommand } from '#src/cli/frame.ts';

/** `catalogue openapi …`: the document goes to stdout as JSON, with `--json` on one line. */
export const register = (program: Command): void => {
  const openapi = program.command('openapi').description('Print the OpenAPI 3.1 documents.');

  const print = (name: string, summary: string, load: () => Promise<unknown>): void => {
    const command = defineCommand(openapi, name, { summary, examples: [`openapi ${name} > ${name}.json`] });
    act<[], { json?: boolean }>(command, async (context) => {
      const document = await load();
      context.out.document(document);
      for (const line of JSON.stringify(document, null, 2).split('\n')) context.out.line(line);
      return undefined;
    });
  };
  print('platform', 'the operations that the platform offers to applications', async () => {
    const { openapiPlatform } = await import('#src/contract/openapi-platform.ts');
    return openapiPlatform();
  });
  print('application', 'the callbacks that an application implements', async () => {
    const { openapiApplication } = await import('#src/contract/openapi-application.ts');
    return openapiApplication();
  });
};
