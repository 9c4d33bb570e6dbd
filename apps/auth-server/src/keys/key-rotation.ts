import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { SigningKeys } from './signing-keys.js';

const pollIntervalMs = 60_000;

/** Rotates the signing keys on schedule. All replicas check, one of them rotates. @param days 0: never */
export function keyRotation(keys: SigningKeys, days: number, logger: Logger): BackgroundLoop {
  return new BackgroundLoop({
    name: 'key-rotation',
    intervalMs: pollIntervalMs,
    logger,
    round: async () => {
      const active = await keys.rotateWhenDue(days);
      if (active !== undefined) logger.info({ active }, 'The signing keys were rotated on schedule.');
      await keys.deleteRetired();
      return false;
    },
  });
}
