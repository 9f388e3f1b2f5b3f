import { type Logger, pino } from 'pino';

/**
 * The process's log, on stderr: stdout belongs to what a command answers. JSON lines, or readable ones where
 * a person looks on. Nothing is redacted by name: secrets are kept out by never being handed to a logger.
 */
export const createLogger = (level: string, options: { pretty: boolean; role: string }): Logger => {
  const base = { role: options.role };
  const formatters = { level: (label: string) => ({ level: label }) };
  if (!options.pretty) {
    return pino({ level, base, formatters, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
  }
  const transport = {
    target: 'pino-pretty',
    options: {
      destination: 2,
      ignore: 'pid,hostname,role,job_id',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
    },
  };
  return pino({ level, base, transport });
};
