import type { Request, Response } from 'express';
import type { OidcServer } from '../oidc/oidc-server.js';

/** What somebody just proved once more in a browser in which they are signed in. */
export interface Proof {
  /** When the password was right, in seconds since 1970. */
  readonly loginTs?: number;
  /** By what (RFC 8176). */
  readonly amr?: readonly string[];
}

/** Has this browser's session say so. One that was ended meanwhile stays ended. */
export async function noteProof(
  { provider }: OidcServer,
  request: Request,
  response: Response,
  { loginTs, amr }: Proof,
): Promise<void> {
  const session = await provider.Session.get(provider.createContext(request, response));
  if (session.accountId === undefined) return;
  if (loginTs !== undefined) session.loginTs = loginTs;
  if (amr !== undefined) session.amr = [...amr];
  await session.persist();
}
