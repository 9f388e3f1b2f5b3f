import type { Database } from '#db/client.ts';
import type { FleetApplication } from '#test/fleet/application.ts';
import { addApplication, moveWebhooks } from '#test/support/factories.ts';

/** The applications' own changes between the first run and the one that is disturbed. */
export const changeGames = ({ games }: FleetApplication): void => {
  const before = games.all();
  for (const { game_id, game_name } of before.filter((_, index) => index % 10 === 5))
    games.update(game_id, { game_name: `${game_name}, revised` });
  for (const { game_id } of before.slice(0, 3)) games.remove(game_id);
  const [, , , model] = before;
  if (model === undefined) return;
  for (const index of [1, 2, 3]) games.add({ ...model, game_id: `new-${index}` });
};

export const webhooksAt = (url: string) => ({
  query_game_list_webhook: `${url}/query_game_list`,
  query_game_detail_webhook: `${url}/query_game_detail`,
  query_cp_kyc_webhook: `${url}/query_cp_kyc`,
});

/** Registers an application, or moves the webhooks of one that is registered. */
export const register = async (sql: Database, { application_id, url }: FleetApplication): Promise<void> => {
  const webhooks = webhooksAt(url);
  if (!(await moveWebhooks(sql, application_id, webhooks)))
    await addApplication(sql, application_id, webhooks);
};
