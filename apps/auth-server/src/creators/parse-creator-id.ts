import { isUuid, parsePublicId } from '@fulfilment/contracts';

/**
 * Returns the UUID of a creator in lower case, as it is stored and compared; undefined for any other text.
 * @param creator UUID in upper or lower case, or `crt_` id, which is case-sensitive
 */
export function parseCreatorId(creator: string): string | undefined {
  const lowerCase = creator.toLowerCase();
  return isUuid(lowerCase) ? lowerCase : parsePublicId('crt', creator);
}

/** Returns the UUID of a creator, like `parseCreatorId`. @throws Error for any other text */
export function requireCreatorId(creator: string): string {
  const uuid = parseCreatorId(creator);
  if (uuid === undefined) throw creatorNotFoundError(creator);
  return uuid;
}

export function creatorNotFoundError(creator: string): Error {
  return new Error(`The creator ${creator} does not exist.`);
}
