import { type ClientMetadata, errors, type KoaContextWithOIDC } from 'oidc-provider';
import {
  applicationType,
  selfRegistrationGrantTypes,
  displayableName,
  registrationProblem,
  sizeProblem,
} from '../../registration/client-registration.rules.js';

/**
 * Validates and completes all metadata of a registration, or of a later change (RFC 7592). oidc-provider
 * calls it once for each extra member (provider.ts), and also for clients that are read from storage: they
 * have no request, and stay as stored.
 */
export function validateClientMetadata(
  ctx: KoaContextWithOIDC | undefined,
  _member: string,
  _value: unknown,
  metadata: ClientMetadata,
): void {
  if (ctx === undefined) return;
  const problem = sizeProblem(ctx.oidc.body) ?? registrationProblem(metadata);
  // If the text starts with `redirect_uris`, the error code is `invalid_redirect_uri` (RFC 7591 §3.2.2).
  if (problem !== undefined) throw new errors.InvalidClientMetadata(`${problem.member} ${problem.reason}`);
  if (metadata.client_name !== undefined) metadata.client_name = displayableName(metadata.client_name);
  if (metadata.redirect_uris !== undefined)
    metadata.application_type = applicationType(metadata.redirect_uris);
  // Default: both grant types, since a client that requests offline_access wants to refresh. The response
  // shows them.
  if (ctx.oidc.body?.grant_types === undefined) metadata.grant_types = [...selfRegistrationGrantTypes];
  // oidc-provider keeps the secret of a client that becomes public (RFC 7592), although it cannot be used.
  if (metadata.token_endpoint_auth_method === 'none') {
    delete metadata.client_secret;
    delete metadata.client_secret_expires_at;
  }
  delete metadata.logo_uri; // a logo on the consent page would let its server track people
}
