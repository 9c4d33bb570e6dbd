import { resolveWithin } from '@fulfilment/runtime';
import { Agent } from 'undici';
import { isIP } from 'node:net';
import { type AddressRule, addressRule } from './address.rules.js';
import { type Exchange, ExchangeHandler, type ExchangeOptions } from './exchange.js';
import { guardedConnector } from './guarded-connector.js';
import { type ResolveAddresses, resolveByNameServer, resolveBySystem } from './resolve-addresses.js';
import { hostAndPort, hostOf, targetUrlProblem, type TargetPolicy } from './target-url.rules.js';

/** Timeout of a lookup by `findAddressProblem`. Short, since a client's request waits for it. */
const nameCheckTimeoutMs = 2_000;
const maxHeaderBytes = 16 * 1024;
/**
 * Less than the 5 s after which a Node server closes an idle connection by default, so that no request is on
 * its way when the server closes the connection.
 */
const idleConnectionTimeoutMs = 4_000;

export interface GuardedClientSettings {
  readonly allowLoopback: boolean;
  /** Further blocked networks, in CIDR form. */
  readonly blockedNetworks?: readonly string[];
  /** Public URLs of this suite, which are rejected as targets. */
  readonly ownUrls?: readonly string[];
  /** By default `resolveByNameServer`; with `allowLoopback`, `resolveBySystem`. */
  readonly resolve?: ResolveAddresses;
}

export interface GuardedRequest extends ExchangeOptions {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/**
 * HTTP client for untrusted URLs. It never connects to a private or reserved address, uses no proxy from the
 * environment, follows no redirect, decompresses nothing, and limits headers, body and the whole duration.
 * With `allowLoopback`, for development, it also connects to loopback addresses.
 */
export class GuardedClient {
  private readonly agent: Agent;
  private readonly isAllowedAddress: AddressRule;
  private readonly resolve: ResolveAddresses;
  private readonly policy: TargetPolicy;

  constructor(settings: GuardedClientSettings) {
    const { allowLoopback, blockedNetworks = [], ownUrls = [] } = settings;
    this.isAllowedAddress = addressRule({ allowLoopback, blockedNetworks });
    this.resolve = settings.resolve ?? (allowLoopback ? resolveBySystem : resolveByNameServer());
    this.policy = {
      allowLoopback,
      isAllowedAddress: this.isAllowedAddress,
      ownHosts: new Set(ownUrls.map((url) => hostAndPort(new URL(url)))),
    };
    this.agent = new Agent({
      connect: guardedConnector(this.resolve, this.isAllowedAddress),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // the deadline of the exchange applies instead
      bodyTimeout: 0,
      keepAliveTimeout: idleConnectionTimeoutMs,
      keepAliveMaxTimeout: idleConnectionTimeoutMs, // overrides the server's keep-alive hint
    });
  }

  /** Returns why the URL itself is not allowed as a target; undefined if it is. Makes no DNS query. */
  findUrlProblem(url: string): string | undefined {
    return targetUrlProblem(url, this.policy);
  }

  /**
   * Like `findUrlProblem`, but also resolves the name: none of its addresses may be blocked. Accepts a name
   * that does not resolve yet, since each new connection checks the addresses.
   */
  async findAddressProblem(url: string): Promise<string | undefined> {
    const problem = this.findUrlProblem(url);
    if (problem !== undefined) return problem;
    const host = hostOf(new URL(url));
    if (isIP(host) !== 0) return undefined;
    const addresses = await resolveWithin(nameCheckTimeoutMs, this.resolve(host), () => []).catch(() => []);
    const blocked = addresses.some(({ address }) => !this.isAllowedAddress(address));
    return blocked ? 'must not resolve to a private or reserved address' : undefined;
  }

  /** Sends one request. Never rejects: failures are reported as outcomes. */
  send(request: GuardedRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const handler = new ExchangeHandler(request, resolve);
      try {
        const url = new URL(request.url);
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

  /** Waits for running exchanges, then closes the connections. */
  async close(): Promise<void> {
    await this.agent.close();
  }
}
