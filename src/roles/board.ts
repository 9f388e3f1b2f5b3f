import type { Logger } from 'pino';
import { checkBoardAddress } from '#src/board/address.ts';
import { buildBoard } from '#src/board/app.ts';
import type { Config } from '#src/config.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { listen, stopListening } from '#src/roles/listen.ts';
import type { Role } from '#src/roles/role.ts';

/** Starts Bull Board with every queue of the fleet. */
export const startBoard = async (config: Config, databaseUrl: string, logger: Logger): Promise<Role> => {
  const { host, port, login, readOnly, trustedProxies } = config.board;
  checkBoardAddress(host, login);
  await using started = new AsyncDisposableStack();
  const { producer } = started.use(
    openFoundation(config, databaseUrl, { role: 'worker', name: 'board', maxConnections: 2, logger }),
  );
  const board = await buildBoard({ queues: producer.queues(), login, readOnly, trustedProxies, logger });
  started.defer(() => stopListening(board));
  const address = await listen(board, host, port, 'BOARD_PORT');
  const all = started.move();
  return { name: 'board', address, stop: () => all.disposeAsync() };
};
