import { resolveWithin } from '@fulfilment/runtime';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRule } from './address.rules.js';
import { BlockedAddress } from './outcome.rules.js';
import type { ResolveAddresses } from './resolve-addresses.js';

const connectTimeoutMs = 3_000;
/** Shorter than the connect timeout, so that a silent name server is not attributed to the host. */
const resolveTimeoutMs = 2_500;

/**
 * Opens connections to allowed addresses only. A name is resolved once, and all of its addresses must be
 * allowed. The connection uses exactly these addresses, so that a second lookup cannot return others (DNS
 * rebinding). The address of the connected peer is checked as well.
 */
export function guardedConnector(
  resolve: ResolveAddresses,
  isAllowedAddress: AddressRule,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: pinnedLookup(resolve, isAllowedAddress),
    autoSelectFamily: true,
    // Node's default of 250 ms is too short for a distant host. Four addresses fit the timeout.
    autoSelectFamilyAttemptTimeout: connectTimeoutMs / 4,
    rejectUnauthorized: true,
  });
  return (options, callback) => {
    // Node calls no `lookup` for an IP address, so a literal is checked here.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !isAllowedAddress(literal)) {
      callback(new BlockedAddress(), null);
      return;
    }
    // A rest parameter, so that TypeScript infers from `error === null` that there is a socket.
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
      } else if (socket.remoteAddress === undefined) {
        socket.destroy();
        callback(errorWithCode('ECONNRESET', 'The connection was reset after it was opened.'), null);
      } else if (!isAllowedAddress(socket.remoteAddress)) {
        socket.destroy();
        callback(new BlockedAddress(), null);
      } else {
        callback(null, socket);
      }
    });
  };
}

function errorWithCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function pinnedLookup(resolve: ResolveAddresses, isAllowedAddress: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    resolveWithin(resolveTimeoutMs, resolve(hostname), () => {
      throw errorWithCode('ETIMEOUT', 'The name server did not respond in time.');
    }).then(
      (addresses) => {
        const first = addresses[0]; // a name without addresses counts as blocked, too
        if (first === undefined || addresses.some(({ address }) => !isAllowedAddress(address))) {
          callback(new BlockedAddress(), '');
        } else if (options.all === true) {
          callback(null, addresses);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) =>
        callback(error instanceof Error ? error : new Error('The host name could not be resolved.'), ''),
    );
  };
}
