import { createHash } from 'node:crypto';

/**
 * Models whose id is a secret of the client. Only its SHA-256 is stored, so a stolen database gives no
 * access.
 */
const secretModels = new Set(['AuthorizationCode', 'RefreshToken', 'RegistrationAccessToken', 'Session']);

/** Models that belong to a token family: no row may be added after its Grant was deleted. */
const familyModels = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

export function hasSecretId(model: string): boolean {
  return secretModels.has(model);
}

export function isFamilyMember(model: string): boolean {
  return familyModels.has(model);
}

/** Returns the id that a row is stored under: its SHA-256 if it is a secret. */
export function storedId(model: string, id: string): string {
  return hasSecretId(model) ? createHash('sha256').update(id).digest('base64url') : id;
}
