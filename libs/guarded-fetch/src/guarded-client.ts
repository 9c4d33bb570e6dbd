import { Agent } from 'undici';
import { setTimeout as delay } from 'node:timers/promises';
import { isIP } from 'node:net';
import { type AddressRule, addressRule } from './address.rules.js';
import { type Exchange, ExchangeHandler, type ExchangeLimits } from './exchange.js';
import { guardedConnector } from './guarded-connector.js';
import { type ResolveAddresses, resolveByMachine, resolveByNameServer } from './resolve-addresses.js';
import { hostAndPort, hostOf, targetUrlProblem, type TargetPolicy } from './target-url.rules.js';

const connectTimeoutMs = 3_000;
const judgeNameWithinMs = 2_000;
const maxHeaderBytes = 16 * 1024;
const keepIdleConnectionMs = 4_000;

export interface GuardedClientSettings {
  readonly allowLoopback: boolean;
  /** Further networks that are never connected to, in CIDR form. */
  readonly blockedNetworks?: readonly string[];
  /** Our own public addresses, never a target. */
  readonly ownUrls?: readonly string[];
  readonly resolve?: ResolveAddresses;
}

export interface GuardedRequest extends ExchangeLimits {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/**
 * HTTP to addresses that strangers gave us. Never to a private or reserved address, never through a proxy of the environment, never
 * after a redirect; nothing is decompressed, headers and body are bounded, and one deadline holds for the whole exchange.
 */
export class GuardedClient {
  private readonly agent: Agent;
  private readonly allowed: AddressRule;
  private readonly resolve: ResolveAddresses;
  private readonly policy: TargetPolicy;

  constructor(settings: GuardedClientSettings) {
    const { allowLoopback, blockedNetworks = [], ownUrls = [] } = settings;
    this.allowed = addressRule({ allowLoopback, blockedNetworks });
    this.resolve = settings.resolve ?? (allowLoopback ? resolveByMachine() : resolveByNameServer());
    this.policy = {
      allowLoopback,
      allowedAddress: this.allowed,
      ownHosts: new Set(ownUrls.map((url) => hostAndPort(new URL(url)))),
    };
    this.agent = new Agent({
      connect: guardedConnector({ allowed: this.allowed, resolve: this.resolve, connectTimeoutMs }),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // the exchange's own deadline is the one that counts
      bodyTimeout: 0,
      keepAliveTimeout: keepIdleConnectionMs,
      keepAliveMaxTimeout: keepIdleConnectionMs, // however long the other side would like
    });
  }

  /** Why this URL cannot be a target whatever its name resolves to, or undefined. Asks no name server. */
  shapeProblem(url: string): string | undefined {
    return targetUrlProblem(url, this.policy);
  }

  /**
   * Why this URL cannot be a target, or undefined. A name that resolves to a blocked address is refused; one that does
   * not resolve yet is not, and is judged again at each connection.
   */
  async problemWith(url: string): Promise<string | undefined> {
    const problem = this.shapeProblem(url);
    if (problem !== undefined) return problem;
    const host = hostOf(new URL(url));
    if (isIP(host) !== 0) return undefined;
    const addresses = await this.resolveQuickly(host);
    const blocked = addresses.some(({ address }) => !this.allowed(address));
    return blocked ? 'must not resolve to a private or reserved address' : undefined;
  }

  /** Sends one request. Never rejects: what went wrong is the outcome. */
  send(request: GuardedRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const handler = new ExchangeHandler(request, resolve);
      const url = new URL(request.url);
      try {
        this.agent.dispatch(
          {
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method: request.method,
            headers: { ...request.headers, 'accept-encoding': 'identity' },
            body: request.body ?? null,
          },
          handler,
        );
      } catch (error) {
        handler.fail(error instanceof Error ? error : new Error('The request could not be sent.'));
      }
    });
  }

  /** Closes idle connections; what is under way ends first. */
  async close(): Promise<void> {
    await this.agent.close();
  }

  private async resolveQuickly(host: string): Promise<Awaited<ReturnType<ResolveAddresses>>> {
    const timer = new AbortController();
    const late = delay(judgeNameWithinMs, [], { signal: timer.signal }).catch(() => []);
    try {
      return await Promise.race([this.resolve(host), late]);
    } catch {
      return [];
    } finally {
      timer.abort();
    }
  }
}
