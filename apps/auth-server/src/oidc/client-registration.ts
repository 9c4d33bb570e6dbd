import { type ClientMetadata, errors, type KoaContextWithOIDC } from 'oidc-provider';
import {
  applicationType,
  openGrants,
  presentableName,
  registrationRefusal,
  sizeRefusal,
} from './client-registration.rules.js';

/**
 * Judges and completes what a stranger registers, or changes later (RFC 7592). oidc-provider calls it for each client it makes,
 * also for those read from storage: these have no request, and the operator's are as the operator made them.
 */
export function judgeRegistration(
  ctx: KoaContextWithOIDC | undefined,
  _member: string,
  _value: unknown,
  metadata: ClientMetadata,
): void {
  if (ctx === undefined) return;
  const refusal = sizeRefusal(ctx.oidc.body) ?? registrationRefusal(metadata);
  if (refusal?.member === 'redirect_uris')
    throw new errors.InvalidRedirectUri(`${refusal.member} ${refusal.reason}`); // RFC 7591 §3.2.2
  if (refusal !== undefined) throw new errors.InvalidClientMetadata(`${refusal.member} ${refusal.reason}`);
  if (metadata.client_name !== undefined) metadata.client_name = presentableName(metadata.client_name);
  if (metadata.redirect_uris !== undefined)
    metadata.application_type = applicationType(metadata.redirect_uris);
  // Both grants when none is named: a client that asks for offline_access means to refresh. The response says so.
  if (ctx.oidc.body?.grant_types === undefined) metadata.grant_types = [...openGrants];
  delete metadata.logo_uri; // nobody's server learns who looks at our consent page
}
