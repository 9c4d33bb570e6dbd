import unhomoglyph from 'unhomoglyph';
import { accountClientName } from './account-client.js';

/** The public name of the suite. */
export const suiteName = 'Fulfilment';

const ownNames = [suiteName, accountClientName];

/**
 * Whether a name could be confused with one of ours: compares UTS #39 skeletons, ignoring case, marks,
 * spaces, punctuation and invisible characters.
 * @param firstPartyNames names of the operator's first-party clients
 */
export function isReservedName(name: string, firstPartyNames: readonly string[]): boolean {
  const folded = fold(name);
  return [...ownNames, ...firstPartyNames].some((reserved) => fold(reserved) === folded);
}

/**
 * Applies `unhomoglyph` twice, because lower case makes further letters look alike. `I`, `l` and `i` count as
 * equal. Some invisible characters are letters (U+3164), so they are removed first.
 */
function fold(name: string): string {
  const visible = name.normalize('NFKD').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return unhomoglyph(unhomoglyph(visible).toLowerCase())
    .replaceAll('i', 'l')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
