/** What a search looks through: name and artists, lower case in every script. */
export function searchText(...parts: readonly string[]): string {
  return parts.join(' ').normalize('NFC').toLowerCase();
}

/** A search term as a LIKE pattern; `%`, `_` and the backslash stand for themselves. */
export function searchPattern(term: string): string {
  return `%${searchText(term).replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
