/** The text that a search matches: name and artists, case-folded in every script. */
export function searchText(...parts: readonly string[]): string {
  return foldCase(parts.join(' ').normalize('NFC')).normalize('NFC');
}

/** A search term as a LIKE pattern; `%`, `_` and the backslash stand for themselves. */
export function searchPattern(term: string): string {
  return `%${searchText(term).replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** Whether a trigram index can be used: the term has three letters or digits in a row. */
export function hasTrigram(term: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(searchText(term));
}

/**
 * Returns one form of all spellings. Upper case turns ß into SS and the ligature ﬁ into FI, but keeps the
 * capital ẞ, which lower case turns into ß first. The final sigma ς is a positional form of σ. The result may
 * be decomposed.
 */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
