import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/** In UTF-16 code units. An ID token as a hint is the longest that any client needs. */
const maxParameterLength = 2_048;
const maxTotalLength = 8_192;

/**
 * What anybody can have stored: parameters are kept while a person signs in, pushed ones until they are used.
 * @throws InvalidRequest that names the parameter
 */
export function rejectLargeParameters(ctx: KoaContextWithOIDC): void {
  let total = 0;
  for (const [name, value] of Object.entries(ctx.oidc.params ?? {})) {
    if (typeof value !== 'string') continue;
    total += name.length + value.length;
    if (value.length <= maxParameterLength) continue;
    reject(ctx, `${name} must be at most ${maxParameterLength} characters`);
  }
  if (total > maxTotalLength) reject(ctx, `parameters must be at most ${maxTotalLength} characters in total`);
}

/** Without `state`: an error that goes to the app would bring the large value back. */
function reject(ctx: KoaContextWithOIDC, reason: string): never {
  const { params } = ctx.oidc;
  if (typeof params?.['state'] === 'string' && params['state'].length > maxParameterLength)
    params['state'] = undefined;
  throw new errors.InvalidRequest(reason);
}
