import { dpopSigningAlgorithms, issuer } from '@fulfilment/contracts';

/** Protected resource metadata, which the 401 challenge points to (RFC 9728 §2). */
export function protectedResourceMetadata(settings: {
  readonly resource: string;
  readonly name: string;
  readonly authUrl: string;
  readonly scopes: readonly string[];
}): object {
  return {
    resource: settings.resource,
    resource_name: settings.name,
    authorization_servers: [issuer(settings.authUrl)],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: dpopSigningAlgorithms,
    dpop_bound_access_tokens_required: false,
    scopes_supported: settings.scopes,
  };
}

/** Path of the metadata: the well-known name is between host and path (RFC 9728 §3.1). */
export function protectedResourcePath(prefix: string): string {
  return `/.well-known/oauth-protected-resource/${prefix}`;
}
