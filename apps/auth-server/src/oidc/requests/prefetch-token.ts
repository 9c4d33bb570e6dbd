import { parse } from 'node:querystring';
import { isStorableText } from '../../http/storable-text.js';
import { storedId } from '../../tokens/stored-models.rules.js';
import type { StoredRows } from '../../tokens/stored-rows.js';

/**
 * Prefetches the code or refresh token of a token request, so that one statement reads it with the client,
 * the Grant and the person.
 */
export function prefetchToken(request: object, form: Buffer, stored: StoredRows): void {
  const { grant_type: grantType, code, refresh_token: refreshToken } = parse(form.toString());
  const prefetchIfValid = (model: string, token: string | string[] | undefined): void => {
    if (typeof token === 'string' && isStorableText(token))
      stored.prefetch(request, model, storedId(model, token));
  };
  if (grantType === 'refresh_token') prefetchIfValid('RefreshToken', refreshToken);
  if (grantType === 'authorization_code') prefetchIfValid('AuthorizationCode', code);
}
