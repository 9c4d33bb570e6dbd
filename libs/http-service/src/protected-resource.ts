import type { Addresses, Api } from '@fulfilment/api-reference';
import { audiences, dpopSigningAlgorithms, issuer } from '@fulfilment/contracts';

/** Protected resource metadata, which the 401 challenge points to (RFC 9728 §2). */
export function protectedResourceMetadata(
  api: Api,
  name: string,
  scopes: readonly string[],
  { baseUrl, authUrl }: Addresses,
) {
  return {
    resource: audiences(baseUrl)[api],
    resource_name: name,
    authorization_servers: [issuer(authUrl)],
    bearer_methods_supported: ['header' as const],
    dpop_signing_alg_values_supported: [...dpopSigningAlgorithms],
    dpop_bound_access_tokens_required: false as const,
    scopes_supported: [...scopes],
  };
}

/** Path of the metadata: the well-known name is between host and path (RFC 9728 §3.1). */
export function protectedResourcePath(api: Api): string {
  return `/.well-known/oauth-protected-resource/${api}`;
}
