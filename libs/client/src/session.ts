import { SignInRequiredError } from './errors.js';
import type { TokenSource } from './transport.js';

export interface Tokens {
  readonly accessToken: string;
  /** Milliseconds since 1970; undefined if unknown. */
  readonly expiresAtMs?: number | undefined;
  /** Present with the scope `offline_access`. It can be used once. */
  readonly refreshToken?: string | undefined;
}

/** Keeps the tokens of one signed-in person. Tabs of a browser share a session by sharing its store. */
export interface TokenStore {
  load(): Promise<Tokens | undefined>;
  save(tokens: Tokens): Promise<void>;
}

export interface SessionOptions {
  readonly store: TokenStore;
  /** Exchanges a refresh token. @throws SignInRequiredError if the token is not valid */
  readonly refresh: (refreshToken: string) => Promise<Tokens>;
  /**
   * Name of the lock around the refresh (`navigator.locks`), the same for all sessions that share the store.
   * Without it, only requests of this session share a refresh.
   */
  readonly lockName?: string;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** A token that expires this soon is renewed before it is sent. */
const expiryMarginMs = 30_000;

/**
 * The tokens of a signed-in person. A refresh token can be used once, and a second use ends the session. So
 * one refresh runs at a time, with a `lockName` also across the tabs of a browser, and the new tokens are
 * saved before any of them is used.
 */
export class Session implements TokenSource {
  readonly #options: SessionOptions;
  #renewal: Promise<string> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Returns the stored token, or a new one if it expires soon. @throws SignInRequiredError */
  async accessToken(): Promise<string> {
    const { store, now = Date.now } = this.#options;
    const tokens = await loadTokens(store);
    const expiresSoon = tokens.expiresAtMs !== undefined && tokens.expiresAtMs - now() < expiryMarginMs;
    return expiresSoon && tokens.refreshToken !== undefined
      ? this.renew(tokens.accessToken)
      : tokens.accessToken;
  }

  /** Returns a token other than the rejected one; concurrent calls share one. @throws SignInRequiredError */
  async renew(rejected: string): Promise<string> {
    // A running renewal is shared, unless it returns the token that is rejected now.
    while (this.#renewal !== undefined) {
      const renewed = await this.#renewal;
      if (renewed !== rejected) return renewed;
    }
    this.#renewal = this.#exclusively(() => this.#replace(rejected)).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #replace(rejected: string): Promise<string> {
    const { store, refresh } = this.#options;
    const current = await loadTokens(store);
    // Another tab or an earlier call has already replaced the rejected token.
    if (current.accessToken !== rejected) return current.accessToken;
    if (current.refreshToken === undefined)
      throw new SignInRequiredError('The access token is no longer valid.');
    const renewed = await refresh(current.refreshToken);
    const tokens = { ...renewed, refreshToken: renewed.refreshToken ?? current.refreshToken };
    await store.save(tokens);
    return tokens.accessToken;
  }

  #exclusively(work: () => Promise<string>): Promise<string> {
    const { lockName } = this.#options;
    // Node has locks since version 24.5, browsers in secure contexts. Without them the work runs unlocked.
    const locks = 'navigator' in globalThis && 'locks' in navigator ? navigator.locks : undefined;
    if (lockName === undefined || locks === undefined) return work();
    return locks.request(lockName, work);
  }
}

async function loadTokens(store: TokenStore): Promise<Tokens> {
  const tokens = await store.load();
  if (tokens === undefined) throw new SignInRequiredError('There is no session.');
  return tokens;
}

/** Returns a store that keeps the tokens until the process or page ends. */
export function memoryTokenStore(tokens?: Tokens): TokenStore {
  let current = tokens;
  return {
    load: () => Promise.resolve(current),
    save: (renewed) => {
      current = renewed;
      return Promise.resolve();
    },
  };
}
