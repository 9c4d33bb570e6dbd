import { UnsuitableConnection } from '@fulfilment/database';
import { exitCodeConfig, type Logger } from '@fulfilment/runtime';

/** Ends the process, as for an invalid setting, if the connection to PostgreSQL is unsuitable. */
export async function exitIfUnsuitable(logger: Logger, connect: () => Promise<void>): Promise<void> {
  try {
    await connect();
  } catch (error) {
    if (!(error instanceof UnsuitableConnection)) throw error;
    logger.fatal(error.message);
    process.exit(exitCodeConfig);
  }
}
