import { clientNetwork, widerNetworkFactor } from '@fulfilment/http-service';
import { createHash } from 'node:crypto';

/** A network whose failures for all accounts are counted together. */
export interface CountedNetwork {
  readonly subject: string;
  readonly network: string;
  /** Multiplies the limit of a network: more than 1 for a wider network, such as an IPv6 /56. */
  readonly factor: number;
}

/**
 * The subjects that a guess counts for. They are locked in the order of these members, which is alphabetical
 * (`address:`, `everywhere:`, `pair:`), so that two guesses cannot deadlock.
 */
export interface GuessTarget {
  /** Empty for a browser that signed in before, and for a signed-in browser. */
  readonly limitedNetworks: readonly CountedNetwork[];
  /** The account in all networks; undefined where `narrowest` already counts all guesses. */
  readonly everywhere: string | undefined;
  /** The account in this network, the codes of the account, the browser or the session. */
  readonly narrowest: string;
}

/**
 * Returns the key of an account: its id, or for an unknown e-mail address a hash of its canonical spelling.
 */
export function accountKey(lookup: {
  readonly canonical: string;
  readonly user: { readonly id: string } | undefined;
}): string {
  if (lookup.user !== undefined) return `user-${lookup.user.id}`;
  return `name-${createHash('sha256').update(lookup.canonical).digest('base64url')}`;
}

/**
 * Returns the target of a guess at a password on the sign-in page.
 * @param device id of a browser that signed in before (device-cookies.ts)
 */
export function passwordGuessTarget(guess: {
  readonly account: string;
  readonly address: string;
  readonly device: string | undefined;
}): GuessTarget {
  const { account, address, device } = guess;
  if (device !== undefined)
    return { limitedNetworks: [], everywhere: undefined, narrowest: `device:${device}` };
  return {
    limitedNetworks: countedNetworks(address),
    everywhere: `everywhere:${account}`,
    narrowest: `pair:${account}@${clientNetwork(address).network}`,
  };
}

/**
 * Returns the target of a guess at a code of the second factor. Passwords have other counts, so the correct
 * password does not reset this one.
 */
export function codeGuessTarget(guess: {
  readonly userId: string;
  readonly address: string;
  readonly device: string | undefined;
}): GuessTarget {
  const { userId, address, device } = guess;
  return {
    limitedNetworks: device === undefined ? countedNetworks(address) : [],
    everywhere: undefined,
    narrowest: `codes:${userId}`,
  };
}

/**
 * Returns the target of a guess at the password in a signed-in browser. It has its own count, so that
 * attackers elsewhere cannot use up the owner's guesses.
 */
export function confirmationGuessTarget(sessionUid: string): GuessTarget {
  return { limitedNetworks: [], everywhere: undefined, narrowest: `session:${sessionUid}` };
}

/** Returns the target of a guess at a code in a signed-in browser. */
export function confirmationCodeGuessTarget(sessionUid: string): GuessTarget {
  return confirmationGuessTarget(`codes-${sessionUid}`);
}

function countedNetworks(address: string): CountedNetwork[] {
  const { network, widerNetwork } = clientNetwork(address);
  const narrow = { subject: `address:${network}`, network, factor: 1 };
  if (widerNetwork === undefined) return [narrow];
  const wider = { subject: `address:${widerNetwork}`, network: widerNetwork, factor: widerNetworkFactor };
  return [wider, narrow]; // in alphabetical order: a /56 has zeros where its /64 may have other digits
}
