/** SQLSTATE codes we act on. */
export const UNDEFINED_TABLE = '42P01';

/**
 * Is this an error that Postgres itself reported, with this SQLSTATE if one is given? By its shape, so that
 * asking does not load the driver.
 */
export const isPostgresError = (error: Error, code?: string): error is Error & { code: string } =>
  error.name === 'PostgresError' && (code === undefined || (error as { code?: unknown }).code === code);
