import { readConfig } from '#src/config.ts';
import { CatalogueError } from '#src/errors.ts';

/** The error of readConfig for this environment. */
export const rejection = (env: Record<string, string>): CatalogueError => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof CatalogueError) return error;
    throw error;
  }
  throw new Error('readConfig accepted this environment');
};
