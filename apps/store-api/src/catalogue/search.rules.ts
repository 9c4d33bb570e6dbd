/** Joins texts of a release, or a search term, in the form in which a search compares them. */
export function searchText(...parts: readonly string[]): string {
  return foldCase(parts.join(' ').normalize('NFC')).normalize('NFC');
}

/** Returns a LIKE pattern for a search term, in which `%`, `_` and the backslash are escaped. */
export function searchPattern(term: string): string {
  return `%${searchText(term).replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** Whether a trigram index can be used: the term has three letters or digits in a row. */
export function hasTrigram(term: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(searchText(term));
}

/**
 * Returns the same text for spellings that differ only in case. The first lower case turns the capital ẞ into
 * ß; upper case then turns ß into SS, and the ligature ﬁ into FI. ς is the form of σ at the end of a word.
 * The result may not be in a Unicode normal form.
 */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
