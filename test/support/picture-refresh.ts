import type { Database } from '#db/client.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createDecoder } from '#src/pictures/decoder.ts';
import { createPictures } from '#src/pictures/refresh.ts';
import { startPictureServer } from '#test/support/pictures.ts';

/** Starts a server of pictures, and what a media process reads them with. @param sql as the role of that process */
export const startPictures = async (sql: Database) => {
  const server = await startPictureServer();
  const decoder = createDecoder();
  const pictures = createPictures({
    sql,
    egress: createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] }),
    decoder,
    maxBytes: 200_000,
    recheckMs: 3_600_000,
    reopenGames: createReopenGames(sql),
  });
  const close = async (): Promise<void> => {
    pictures.close();
    decoder.close();
    await server.close();
  };
  return { server, pictures, close };
};
