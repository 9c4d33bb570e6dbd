import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { Counter } from '@fulfilment/runtime';
import { type CryptoKey, createRemoteJWKSet, errors, type ProtectedHeaderParameters } from 'jose';
import { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 3_000;
const readIntervalMs = 60_000;
/** Minimum time between reads, however many tokens name unknown keys. */
const minReadIntervalMs = 1_000;

const failures = new Counter({
  name: 'jwks_read_failures_total',
  help: 'Failed refreshes of the public signing keys; the cached keys stay in use.',
});

/**
 * The authorization server's public keys (RFC 7517). They are read when first needed, when they are used more
 * than a minute after the last read, and when a token names an unknown key, so that a key may sign as soon as
 * it is published. Such a token waits for a new read; reads begin at least a second apart. jose's cool-down
 * would reject the token instead. Known keys stay in use while reads fail.
 */
export class PublishedKeys {
  private readonly remote: ReturnType<typeof createRemoteJWKSet>;
  private readonly nodeKeys = new WeakMap<CryptoKey, KeyObject>();
  private readonly nowMs: () => number; // no parameter property: tools run this file with its types stripped
  /** Ids of the keys that the last read returned; undefined before the first one. */
  private publishedIds: ReadonlySet<string> | undefined;
  private readStartedAtMs = -Infinity;
  /** The last read that began. It may be in progress, and never rejects. */
  private lastRead: Promise<unknown> = Promise.resolve();
  /** The read that waits until it may begin. */
  private nextRead: Promise<void> | undefined;

  /** @param url address of the JWK set */
  constructor(url: string, nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
    this.remote = createRemoteJWKSet(new URL(url), {
      cooldownDuration: Infinity, // this class decides when to read
      cacheMaxAge: Infinity,
      timeoutDuration: timeoutMs,
      // A cached response may be older than the key (RFC 9111 §5.2.1.4).
      headers: { 'cache-control': 'no-cache' },
    });
  }

  /**
   * Returns the key that a token's header names.
   * @throws DependencyUnavailable when the keys could not be read; errors of jose for an unknown key
   */
  async find(header: ProtectedHeaderParameters): Promise<KeyObject> {
    if (this.publishedIds === undefined) await this.reload();
    else this.reloadWhenDue();
    try {
      return this.toKeyObject(await this.remote(header));
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.reload();
      return this.toKeyObject(await this.remote(header));
    }
  }

  /** Whether the key set that was read last contains this key. */
  isPublished(keyId: string): boolean {
    return this.publishedIds?.has(keyId) === true;
  }

  /** Begins a read, without waiting for it, if the last one began more than a minute ago. */
  reloadWhenDue(): void {
    if (this.nowMs() - this.readStartedAtMs <= readIntervalMs || this.nextRead !== undefined) return;
    this.reload().catch(() => undefined); // the known keys stay in use
  }

  private toKeyObject(key: CryptoKey): KeyObject {
    const converted = this.nodeKeys.get(key);
    if (converted !== undefined) return converted;
    const created = KeyObject.from(key);
    this.nodeKeys.set(key, created);
    return created;
  }

  /** Begins a read after the one in progress, which may miss a new key. Calls before it begins share it. */
  private reload(): Promise<void> {
    this.nextRead ??= this.waitUntilAllowed().then(() => {
      this.nextRead = undefined;
      this.readStartedAtMs = this.nowMs();
      const reading = this.read();
      this.lastRead = reading.catch(() => undefined);
      return reading;
    });
    return this.nextRead;
  }

  private async read(): Promise<void> {
    await this.remote.reload().catch((error: unknown) => {
      failures.inc();
      throw new DependencyUnavailable('The signing keys could not be read.', { cause: error });
    });
    this.publishedIds = new Set(this.remote.jwks()?.keys.map(({ kid }) => kid ?? ''));
  }

  private async waitUntilAllowed(): Promise<void> {
    await this.lastRead;
    const waitMs = this.readStartedAtMs + minReadIntervalMs - this.nowMs();
    if (waitMs > 0) await delay(waitMs);
  }
}
