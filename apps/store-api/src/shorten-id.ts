/** More than the longest valid id has: a UUID of 36 characters. */
const maxLength = 40;

/** Shortens an id of a message for the reason of its rejection: an invalid one may be of any length. */
export function shortenId(id: string): string {
  return id.slice(0, maxLength);
}
