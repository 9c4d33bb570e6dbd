/** What a search looks through: name and artists, without the difference of upper and lower case in any script. */
export function searchText(...parts: readonly string[]): string {
  return foldCase(parts.join(' ').normalize('NFC')).normalize('NFC');
}

/** A search term as a LIKE pattern; `%`, `_` and the backslash stand for themselves. */
export function searchPattern(term: string): string {
  return `%${searchText(term).replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** Whether a trigram index can narrow a search for this: it knows runs of three letters or digits. */
export function hasTrigram(term: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(searchText(term));
}

/** By way of upper case, which has one form of what has two small ones (ß and ss); a final sigma is small for its place in a word only. */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
