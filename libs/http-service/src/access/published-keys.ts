import { Counter, metrics } from '@fulfilment/runtime';
import { type CryptoKey, createRemoteJWKSet, errors, type ProtectedHeaderParameters } from 'jose';
import { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 3_000;
const readIntervalMs = 60_000;
/** However many unknown key ids come, forged or not, the keys are read at most this often. */
const readAtMostEveryMs = 1_000;

const failures = new Counter({
  name: 'jwks_read_failures_total',
  help: 'Times the public signing keys could not be read again; those known stay in use.',
  registers: [metrics],
});

/**
 * The authorization server's public keys (RFC 7517), read when first needed, again every minute, and whenever a token names a
 * key that is not among them: so a key may sign the moment it is published. A token waits up to a second for that, instead of being
 * refused for the seconds after a read as jose's cool-down has it: signing keys may have been rotated twice within it.
 * Known keys stay in use while they cannot be read again.
 */
export class PublishedKeys {
  private readonly remote: ReturnType<typeof createRemoteJWKSet>;
  private readonly nodeKeys = new WeakMap<CryptoKey, KeyObject>();
  private readonly nowMs: () => number; // tools run this file with the types stripped
  private published: ReadonlySet<string> | undefined;
  private startedAtMs = -Infinity;
  private running: Promise<unknown> = Promise.resolve();
  private queued: Promise<void> | undefined;

  /** @param url of the JWK set */
  constructor(url: string, nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
    this.remote = createRemoteJWKSet(new URL(url), {
      cooldownDuration: Infinity, // when to read again is decided here
      cacheMaxAge: Infinity,
      timeoutDuration: timeoutMs,
      headers: { 'cache-control': 'no-cache' }, // what a cache in between holds may be older than the key (RFC 9111 §5.2.1.4)
    });
  }

  /** The key that a token's header names. @throws what jose throws: no such key, or the keys could not be read */
  async find(header: ProtectedHeaderParameters): Promise<KeyObject> {
    if (this.published === undefined) await this.readAgain();
    else this.readAgainInTime();
    try {
      return this.asNode(await this.remote(header));
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.readAgain();
      return this.asNode(await this.remote(header));
    }
  }

  /** Whether the key set that was read last holds this key: what a removed key has signed is no longer accepted. */
  isPublished(keyId: string): boolean {
    this.readAgainInTime();
    return this.published?.has(keyId) === true;
  }

  private asNode(key: CryptoKey): KeyObject {
    const known = this.nodeKeys.get(key);
    if (known !== undefined) return known;
    const made = KeyObject.from(key);
    this.nodeKeys.set(key, made);
    return made;
  }

  private readAgainInTime(): void {
    if (this.nowMs() - this.startedAtMs <= readIntervalMs || this.queued !== undefined) return;
    this.readAgain().catch(() => failures.inc());
  }

  /** A reading that begins after this call: one under way may have been answered before the key was published. */
  private readAgain(): Promise<void> {
    this.queued ??= this.turn().then(() => {
      this.queued = undefined;
      this.startedAtMs = this.nowMs();
      const reading = this.read();
      this.running = reading.catch(() => undefined);
      return reading;
    });
    return this.queued;
  }

  private async read(): Promise<void> {
    await this.remote.reload();
    this.published = new Set(this.remote.jwks()?.keys.map(({ kid }) => kid ?? ''));
  }

  private async turn(): Promise<void> {
    await this.running;
    const waitMs = this.startedAtMs + readAtMostEveryMs - this.nowMs();
    if (waitMs > 0) await delay(waitMs);
  }
}
