import { parse } from 'node:querystring';
import { isStorableText } from '../../http/storable-text.js';
import { storedId } from '../../tokens/stored-models.rules.js';
import type { FormHook } from './request-bodies.js';

/**
 * Prefetches the code or refresh token of a token request, so that one statement reads it with the client,
 * the Grant and the person. Does not change the form.
 * @param prefetch called with the key of the row that oidc-provider will look up
 */
export function prefetchToken(prefetch: (request: object, model: string, id: string) => void): FormHook {
  return (request, form) => {
    const { grant_type: grantType, code, refresh_token: refreshToken } = parse(form.toString());
    const prefetchIfValid = (model: string, token: string | string[] | undefined): void => {
      if (typeof token === 'string' && isStorableText(token))
        prefetch(request, model, storedId(model, token));
    };
    if (grantType === 'refresh_token') prefetchIfValid('RefreshToken', refreshToken);
    if (grantType === 'authorization_code') prefetchIfValid('AuthorizationCode', code);
    return form;
  };
}
