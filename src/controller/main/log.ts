import { pino, stdSerializers } from 'pino';
import type { Log } from '../deps.ts';

/** The controller's log: one line of JSON an entry, on standard output. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error'): Log & { readonly flush: () => void } {
  const logger = pino({
    level,
    base: { component: 'controller' },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: stdSerializers.err },
  });
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    flush: () => logger.flush(),
  };
}
