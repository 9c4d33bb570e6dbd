import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buildConnector } from 'undici';
import type { AddressRule } from './address.rules.js';
import { BlockedAddress } from './outcome.rules.js';
import type { ResolveAddresses, ResolvedAddress } from './resolve-addresses.js';

export interface ConnectorSettings {
  readonly allowed: AddressRule;
  readonly resolve: ResolveAddresses;
  readonly connectTimeoutMs: number;
}

/**
 * Opens connections to allowed addresses only. A name is resolved once, here; every address it has must be allowed, and the
 * connection goes to exactly those (no second look-up that could answer otherwise: DNS rebinding). The peer is checked once more.
 */
export function guardedConnector({
  allowed,
  resolve,
  connectTimeoutMs,
}: ConnectorSettings): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: pinnedLookup(resolve, allowed),
    autoSelectFamily: true,
    rejectUnauthorized: true,
  });
  return (options, callback) => {
    // Node never asks `lookup` about an address, so a literal is judged before it.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !allowed(literal)) {
      callback(new BlockedAddress(), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
      } else if (socket.remoteAddress === undefined || !allowed(socket.remoteAddress)) {
        socket.destroy();
        callback(new BlockedAddress(), null);
      } else {
        callback(null, socket);
      }
    });
  };
}

/** Sooner than the time for connecting is over: a name server that is silent is not the host's fault. */
const resolveWithinMs = 2_500;

class NoAnswerFromNameServer extends Error {
  readonly code = 'ETIMEOUT';
}

async function resolveInTime(resolve: ResolveAddresses, hostname: string): Promise<ResolvedAddress[]> {
  const timer = new AbortController();
  const late = delay(resolveWithinMs, undefined, { signal: timer.signal }).then(() => {
    throw new NoAnswerFromNameServer('The name server did not answer in time.');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([resolve(hostname), late]);
  } finally {
    timer.abort();
  }
}

function pinnedLookup(resolve: ResolveAddresses, allowed: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    resolveInTime(resolve, hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (first === undefined || addresses.some(({ address }) => !allowed(address))) {
          callback(new BlockedAddress(), '');
        } else if (options.all === true) {
          callback(null, [...addresses]);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('No address.'), ''),
    );
  };
}
