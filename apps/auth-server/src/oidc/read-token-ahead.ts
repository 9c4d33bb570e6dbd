import { parse } from 'node:querystring';
import { isReadable } from '../requests/unreadable-text.js';
import { storedId } from '../tokens/stored-models.rules.js';
import type { FormChange } from './request-bodies.js';

/**
 * Has the code or refresh token of a token request read while its client is: both go in one statement, which brings the Grant and the
 * person along. Changes nothing in the form. @param readAhead told of the record that will be looked up
 */
export function readTokenAhead(readAhead: (request: object, model: string, id: string) => void): FormChange {
  return (request, body) => {
    const { grant_type: grantType, code, refresh_token: refreshToken } = parse(body.toString());
    if (grantType === 'refresh_token') read('RefreshToken', refreshToken);
    if (grantType === 'authorization_code') read('AuthorizationCode', code);
    return body;

    function read(model: string, token: string | string[] | undefined): void {
      if (typeof token === 'string' && isReadable(token)) readAhead(request, model, storedId(model, token));
    }
  };
}
