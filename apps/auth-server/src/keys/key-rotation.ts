import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { SigningKeys } from './signing-keys.js';

const lookEveryMs = 60_000;

/** Rotates the signing keys on a schedule while the service runs; each replica looks, one of them does it. @param days 0 is never */
export function keyRotation(keys: SigningKeys, days: number, logger: Logger): BackgroundLoop {
  return new BackgroundLoop({
    name: 'key-rotation',
    intervalMs: lookEveryMs,
    logger,
    round: async () => {
      const active = await keys.rotateWhenDue(days);
      if (active !== undefined) logger.info({ active }, 'The signing keys were rotated on schedule.');
      await keys.forgetRetired();
      return false;
    },
  });
}
