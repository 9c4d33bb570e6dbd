import { clientNetwork, widerNetworkFactor } from '@fulfilment/http-service';
import { createHash } from 'node:crypto';

/** A network whose failures are counted together, whatever account they were for. */
export interface CountedNetwork {
  readonly subject: string;
  readonly network: string;
  /** The limit of a wider network is the limit of a network, multiplied. */
  readonly factor: number;
}

/**
 * The subjects that a guess counts for. They are locked in the order of these members, which is alphabetical
 * (`address:`, `everywhere:`, `pair:`), so that two guesses cannot deadlock.
 */
export interface GuessTarget {
  /** Empty for a browser that has a limit of its own. */
  readonly limitedNetworks: readonly CountedNetwork[];
  /** The account in all networks; undefined where `own` already counts all guesses. */
  readonly everywhere: string | undefined;
  /** The subject that a right guess resets: the account in this network, the browser or the session. */
  readonly own: string;
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
export function passwordGuess(guess: {
  readonly account: string;
  readonly address: string;
  readonly device: string | undefined;
}): GuessTarget {
  const { account, address, device } = guess;
  if (device !== undefined) return { limitedNetworks: [], own: `device:${device}`, everywhere: undefined };
  return {
    limitedNetworks: countedNetworks(address),
    own: `pair:${account}@${clientNetwork(address).network}`,
    everywhere: `everywhere:${account}`,
  };
}

/**
 * Returns the target of a guess at a code of the second factor, after the right password. Counted apart, so
 * the password gives no further guesses.
 */
export function codeGuess(guess: {
  readonly userId: string;
  readonly address: string;
  readonly device: string | undefined;
}): GuessTarget {
  const { userId, address, device } = guess;
  return {
    limitedNetworks: device === undefined ? countedNetworks(address) : [],
    own: `codes:${userId}`,
    everywhere: undefined,
  };
}

/**
 * Returns the target of a guess at the password in a browser that is signed in: attackers elsewhere must not
 * use up the owner's guesses.
 */
export function confirmationGuess(sessionUid: string): GuessTarget {
  return { limitedNetworks: [], own: `session:${sessionUid}`, everywhere: undefined };
}

/** Returns the target of a guess at a code in a signed-in browser. Counted apart, as in `codeGuess`. */
export function confirmationCodeGuess(sessionUid: string): GuessTarget {
  return confirmationGuess(`codes-${sessionUid}`);
}

function countedNetworks(address: string): CountedNetwork[] {
  const { network, widerNetwork } = clientNetwork(address);
  const narrow = { subject: `address:${network}`, network, factor: 1 };
  if (widerNetwork === undefined) return [narrow];
  const wider = { subject: `address:${widerNetwork}`, network: widerNetwork, factor: widerNetworkFactor };
  return [wider, narrow]; // in alphabetical order: a /56 has zeros where its /64 may have other digits
}
