// Calls an application when this process may open no further file, or one more, and prints the error of the call as JSON:
// `ulimit -n 60; node test/support/call-without-files.ts URL [1]`.
import { closeSync, openSync } from 'node:fs';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';

const [url = '', free = '0'] = process.argv.slice(2);
const client = createWebhookClient({
  egress: createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] }),
});
const files: number[] = [];
try {
  for (;;) files.push(openSync('/dev/null', 'r'));
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
}
for (const file of files.slice(0, Number(free))) closeSync(file);
const target = {
  application_id: 'acme',
  query_game_list_webhook: url,
  query_game_detail_webhook: url,
  query_cp_kyc_webhook: url,
  accessToken: 'token',
};
try {
  await client.queryGameList(target, { page_num: 1, page_size: 100 }, new AbortController().signal);
} catch (error) {
  const { code, message, retryable } = error as { code: string; message: string; retryable: boolean };
  process.stdout.write(JSON.stringify({ code, message, retryable }));
}
