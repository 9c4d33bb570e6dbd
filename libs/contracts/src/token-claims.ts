import { z } from 'zod';

export const userRoles = ['owner', 'admin', 'member', 'global_admin'] as const;

/** Claims of an access token (RFC 9068 `at+jwt`, ES256). */
export const accessTokenClaims = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  client_id: z.string(),
  scope: z.string().default(''),
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  org_id: z.string().optional(),
  org_role: z.string().optional(),
  creator_id: z.string().optional(),
  cnf: z.object({ jkt: z.string() }).optional(),
});
export type AccessTokenClaims = z.infer<typeof accessTokenClaims>;

/** The lifetime of every access token. No API accepts one that is valid for longer. */
export const accessTokenLifetimeSeconds = 3600;

/** Algorithms of DPoP proofs (RFC 9449), at the authorization server and at both APIs. */
export const dpopSigningAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;

/** Returns the audiences of access tokens: only `store` for third-party tokens, both for first-party ones. */
export function audiences(baseUrl: string): { store: string; creator: string } {
  return { store: `${baseUrl}/store`, creator: `${baseUrl}/creator` };
}

/** Returns the issuer identifier, below the public URL of the authorization server. */
export function issuer(authUrl: string): string {
  return `${authUrl}/api/auth`;
}

/** Returns the Redis key that marks a token as revoked. Written by auth-server, read by every API. */
export function revokedTokenKey(jti: string): string {
  return `deny:${jti}`;
}
