import { createHash } from 'node:crypto';

/** What a client holds of these is a secret: they are known by its SHA-256 only, so a stolen database opens nothing. */
const secretModels = new Set(['AuthorizationCode', 'RefreshToken', 'RegistrationAccessToken', 'Session']);

/** Members of a family: none may be added once its Grant is gone. */
const familyModels = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

export function isSecret(model: string): boolean {
  return secretModels.has(model);
}

export function isFamilyMember(model: string): boolean {
  return familyModels.has(model);
}

/** The key a record is stored under. */
export function storedId(model: string, id: string): string {
  return isSecret(model) ? createHash('sha256').update(id).digest('base64url') : id;
}
