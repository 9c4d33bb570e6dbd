import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CONFIG, type Config } from '../config.js';
import { cookieSettings } from '../oidc/cookies.js';
import { OidcServer } from '../oidc/oidc-server.js';

/** What a person proved once more in a browser in which they are signed in. */
export interface Proof {
  /** When the password was right, in seconds since 1970. */
  readonly loginTs?: number;
  /** By what (RFC 8176). */
  readonly amr?: readonly string[];
}

/** Notes a proof in this browser's session, and gives the session a new id: a copy of the old cookie is worth nothing. */
@Injectable()
export class NoteProof {
  constructor(
    private readonly oidc: OidcServer,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A session that was ended concurrently stays ended. */
  async note(request: Request, response: Response, { loginTs, amr }: Proof = {}): Promise<void> {
    const { provider } = this.oidc;
    const context = provider.createContext(request, response);
    const session = await provider.Session.get(context);
    if (session.accountId === undefined) return;
    if (loginTs !== undefined) session.loginTs = loginTs;
    if (amr !== undefined) session.amr = [...amr];
    session.resetIdentifier();
    await session.persist();
    const { names, long } = cookieSettings(this.config);
    const expires = new Date((session.exp ?? 0) * 1000);
    context.cookies.set(names.session, session.jti, { ...long, expires });
  }
}
