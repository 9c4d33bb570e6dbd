import { Counter, metrics } from '@fulfilment/runtime';
import { type CryptoKey, createRemoteJWKSet, errors, type ProtectedHeaderParameters } from 'jose';
import { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 3_000;
const readAgainAfterMs = 600_000;
/** However many unknown key ids come, forged or not, the keys are read at most this often. */
const readAtMostEveryMs = 1_000;

const failures = new Counter({
  name: 'jwks_read_failures_total',
  help: 'Times the public signing keys could not be read again; those known stay in use.',
  registers: [metrics],
});

/**
 * The authorization server's public keys (RFC 7517), read when first needed, again every ten minutes, and whenever a token names a
 * key that is not among them: so a key may sign the moment it is published. A token waits up to a second for that, instead of being
 * refused for the seconds after a read as jose's cool-down has it: signing keys may have been rotated twice within it.
 * Known keys stay in use while they cannot be read again.
 */
export class PublishedKeys {
  private readonly remote: ReturnType<typeof createRemoteJWKSet>;
  private readonly nodeKeys = new WeakMap<CryptoKey, KeyObject>();
  private startedAtMs = -Infinity;
  private running: Promise<unknown> = Promise.resolve();
  private queued: Promise<void> | undefined;

  /** @param url of the JWK set */
  constructor(url: string) {
    this.remote = createRemoteJWKSet(new URL(url), {
      cooldownDuration: Infinity, // when to read again is decided here
      cacheMaxAge: Infinity,
      timeoutDuration: timeoutMs,
      headers: { 'cache-control': 'no-cache' }, // what a cache in between holds may be older than the key (RFC 9111 §5.2.1.4)
    });
  }

  /** The key that a token's header names. @throws what jose throws: no such key, or the keys could not be read */
  async find(header: ProtectedHeaderParameters): Promise<KeyObject> {
    this.readAgainInTime();
    try {
      return this.asNode(await this.remote(header));
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.readAgain();
      return this.asNode(await this.remote(header));
    }
  }

  private asNode(key: CryptoKey): KeyObject {
    const known = this.nodeKeys.get(key);
    if (known !== undefined) return known;
    const made = KeyObject.from(key);
    this.nodeKeys.set(key, made);
    return made;
  }

  private readAgainInTime(): void {
    if (this.remote.jwks() === undefined)
      this.startedAtMs = performance.now(); // jose reads for the first time
    else if (performance.now() - this.startedAtMs > readAgainAfterMs)
      this.readAgain().catch(() => failures.inc());
  }

  /** A reading that begins after this call: one under way may have been answered before the key was published. */
  private readAgain(): Promise<void> {
    this.queued ??= this.turn().then(() => {
      this.queued = undefined;
      this.startedAtMs = performance.now();
      const reading = this.remote.reload();
      this.running = reading.catch(() => undefined);
      return reading;
    });
    return this.queued;
  }

  private async turn(): Promise<void> {
    await this.running;
    const waitMs = this.startedAtMs + readAtMostEveryMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
  }
}
