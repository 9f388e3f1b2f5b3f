/** The SQLSTATE codes that the catalogue handles. */
export const UNDEFINED_TABLE = '42P01';
export const DEADLOCK_DETECTED = '40P01';
export const INTERNAL_ERROR = 'XX000';
export const INSUFFICIENT_PRIVILEGE = '42501';
export const QUERY_CANCELED = '57014';
export const LOCK_NOT_AVAILABLE = '55P03';
export const INVALID_PASSWORD = '28P01';
export const READ_ONLY = '25006';
/** The trigger `check_pass` refuses to pass a game. */
export const PASS_REFUSED = 'GC001';
/** A rule of threads and appeals is broken. The trigger's message is written for the person who wrote. */
export const TALK_REFUSED = 'GC002';
export const UNKNOWN_DATABASE = '3D000';

/** Did Postgres report this error, with this SQLSTATE if given? Tested by name, so that the driver is not imported. */
export const isPostgresError = (error: Error, code?: string): error is Error & { code: string } =>
  error.name === 'PostgresError' && (code === undefined || (error as { code?: unknown }).code === code);

/** Could Postgres not read a value, such as an id that is no UUID (class 22)? */
export const isInvalidValue = (error: Error): boolean =>
  isPostgresError(error) && error.code.startsWith('22');

/** Does a server not serve? SQLSTATEs of the connection, the sign-in, no such database, too few resources, an operator's act. */
export const refusesService = (error: Error): boolean =>
  isPostgresError(error) && /^(08|28|3D|53|57)/.test(error.code);

/** May what failed succeed later: a lost connection, a lock, a full disk, a server that stops or is read-only? */
export const maySucceedLater = (error: Error): boolean =>
  isPostgresError(error) ? /^(08|25|40|53|55|57|58)/.test(error.code) : 'code' in error;
