import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { AuthServerSettings } from '../config.js';
import type { SigningKeys } from './signing-keys.js';

const intervalMs = 60_000;

/** Rotates the signing keys on schedule. All replicas check, one of them rotates. */
export function keyRotationJob(
  keys: SigningKeys,
  { SIGNING_KEY_ROTATION_DAYS: days }: Pick<AuthServerSettings, 'SIGNING_KEY_ROTATION_DAYS'>,
  logger: Logger,
): BackgroundLoop {
  return new BackgroundLoop({
    name: 'key-rotation',
    intervalMs,
    logger,
    round: async () => {
      const active = await keys.rotateWhenDue(days);
      if (active !== undefined) logger.info({ active }, 'The signing keys were rotated on schedule.');
      await keys.deleteExpiredRetiringKeys();
    },
  });
}
