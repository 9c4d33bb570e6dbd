import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CONFIG, type Config } from '../config.js';
import { cookieSettings } from '../oidc/cookies.js';
import { OidcServer } from '../oidc/oidc-server.js';

/** A factor that a signed-in person has just verified. */
export interface VerifiedFactor {
  /** When the password was verified, in seconds since 1970. */
  readonly loginTs?: number;
  /** Authentication methods (RFC 8176). */
  readonly amr?: readonly string[];
}

/**
 * Changes the id of the browser's session after a reauthentication, so that copies of the old cookie become
 * invalid, and records the factor that was verified.
 */
@Injectable()
export class RotateSession {
  constructor(
    private readonly oidc: OidcServer,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A session that was ended concurrently stays ended. */
  async run(request: Request, response: Response, { loginTs, amr }: VerifiedFactor = {}): Promise<void> {
    const { provider } = this.oidc;
    const context = provider.createContext(request, response);
    const session = await provider.Session.get(context);
    if (session.accountId === undefined) return;
    if (loginTs !== undefined) session.loginTs = loginTs;
    if (amr !== undefined) session.amr = [...amr];
    session.resetIdentifier();
    await session.persist();
    const { names, long: sessionCookieOptions } = cookieSettings(this.config);
    const expires = new Date((session.exp ?? 0) * 1000);
    context.cookies.set(names.session, session.jti, { ...sessionCookieOptions, expires });
  }
}
