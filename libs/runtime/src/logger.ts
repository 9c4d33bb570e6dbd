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

/** Adapts the logger for Nest. Nest's levels log, debug and verbose are routine: here debug and trace. */
export function nestLogger(logger: Logger): LoggerService {
  const text = (message: unknown): string => (typeof message === 'string' ? message : 'Nest logged a value.');
  return {
    log: (message: unknown) => logger.debug(text(message)),
    error: (message: unknown) => logger.error(text(message)),
    warn: (message: unknown) => logger.warn(text(message)),
    debug: (message: unknown) => logger.trace(text(message)),
    verbose: (message: unknown) => logger.trace(text(message)),
    fatal: (message: unknown) => logger.fatal(text(message)),
  };
}

/** Nest's token for the logger. */
export const LOGGER = Symbol('LOGGER');
