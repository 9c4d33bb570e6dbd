/** No valid id is longer: a UUID has 36 characters. */
const maxLength = 40;

/** Shortens an id for the reason of a rejection, since an invalid id may have any length. */
export function shortenId(id: string): string {
  return id.slice(0, maxLength);
}
