import unhomoglyph from 'unhomoglyph';
import { accountClientName } from '../oidc/account-client.js';
import { suiteName } from '../pages/page.js';

const ownNames = [suiteName, accountClientName];

/**
 * Whether people could take a name for one of ours: compared by the skeleton of UTS #39, without case, marks, spaces and punctuation.
 * @param firstPartyNames names of the operator's first-party clients
 */
export function isReservedName(name: string, firstPartyNames: readonly string[]): boolean {
  const folded = fold(name);
  return [...ownNames, ...firstPartyNames].some((reserved) => fold(reserved) === folded);
}

/** Twice, because lower case makes further letters look alike; `I`, `l` and `i` are one letter. */
function fold(name: string): string {
  return unhomoglyph(unhomoglyph(name.normalize('NFKD')).toLowerCase())
    .replaceAll('i', 'l')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
