import { type LoggerService } from '@nestjs/common';
import { type DestinationStream, pino, type Logger } from 'pino';
import { currentContext } from './work-context.js';

export type { Logger } from 'pino';

/**
 * Returns a logger of JSON lines, each with one sentence and fields.
 * @param out the destination; standard output by default
 */
export function createLogger(
  service: string,
  level = 'info',
  out: DestinationStream = pino.destination(),
): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const context = currentContext();
        if (context === undefined) return {};
        const [, traceId] = context.traceparent.split('-');
        return { ...context.origin, trace_id: traceId };
      },
      // Drivers put parameters and connection strings into their errors, so only some members are logged.
      serializers: { error: describeError },
    },
    out,
  );
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code: unknown = Reflect.get(error, 'code');
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/**
 * Adapts the logger for Nest. Its routine messages get lower levels: `log` becomes debug; `debug` and
 * `verbose` become trace.
 */
export function nestLogger(logger: Logger): LoggerService {
  const log = (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') => (message: unknown) => {
    if (message instanceof Error) logger[level]({ error: message }, 'Nest reported an error.');
    else logger[level](typeof message === 'string' ? message : 'Nest logged a value that is not text.');
  };
  return {
    log: log('debug'),
    error: log('error'),
    warn: log('warn'),
    debug: log('trace'),
    verbose: log('trace'),
    fatal: log('fatal'),
  };
}

/** Nest's token for the logger. */
export const LOGGER = Symbol('LOGGER');
