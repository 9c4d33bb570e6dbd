import { type ExecutionContext, Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Person, ReadAccounts } from '../users/read-accounts.js';
import { CONFIG, type AuthServerSettings } from '../config.js';
import { signInUrl } from '../registration/account-client.js';
import { cookieSettings } from '../oidc/authorization/cookies.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { AccountContext, Notice } from '../pages/account/account.page.js';
import { type BrowserRequest, browserRequest } from '../pages/browser-request.js';
import { FormTokens } from '../pages/form-tokens.js';
import { SignInNeeded } from '../pages/page-errors.js';
import { isMfaAuthenticated } from '../second-factor/authentication-methods.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { doneNotice } from './done-notice.js';

/** What a signed-in person has just verified. Undefined members stay as they are in the session. */
interface VerifiedFactor {
  /** When the password was verified, in seconds since 1970. */
  readonly loginTs?: number;
  /** Authentication methods (RFC 8176). */
  readonly amr?: readonly string[];
}

/** A request of the signed-in person for an account page. */
export interface SignedInRequest extends BrowserRequest {
  readonly person: Person;
  readonly sessionUid: string;
  readonly account: AccountContext;
  /** Notice about a form that redirected to this page. */
  readonly notice: Notice | undefined;
  /**
   * Changes the id of the browser's session after a reauthentication, so that copies of the old cookie become
   * invalid, and records the factor that was verified. A session that was ended concurrently stays ended.
   */
  rotateSession(verified?: VerifiedFactor): Promise<void>;
}

const pageBelowOverview = /^\/account\/(apps|browsers|security)(?=\/|$)/;

/** Returns the account page that a path belongs to; the overview for any other path. */
export function accountPageOf(path: unknown): string {
  const page = typeof path === 'string' ? pageBelowOverview.exec(path)?.[0] : undefined;
  return page ?? '/account';
}

/** Finds the person who is signed in, by the oidc-provider session of the browser. */
@Injectable()
export class SignedInPipe implements PipeTransform<ExecutionContext, Promise<SignedInRequest>> {
  constructor(
    private readonly oidc: OidcServer,
    private readonly accounts: ReadAccounts,
    private readonly factors: SecondFactors,
    private readonly forms: FormTokens,
    @Inject(CONFIG) private readonly config: AuthServerSettings,
  ) {}

  /**
   * @throws SignInNeeded when the browser has no valid session, or the person must sign in again
   * @throws Forbidden when the token of a submitted form is invalid
   */
  async transform(context: ExecutionContext): Promise<SignedInRequest> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const { provider } = this.oidc;
    const session = await provider.Session.get(provider.createContext(request, response));
    const { accountId, uid: sessionUid } = session;
    if (accountId === undefined) throw this.signInNeeded(request);
    const [person, needsSecondFactor, isSignInExpired] = await Promise.all([
      this.accounts.person(accountId),
      isMfaAuthenticated(session.amr) ? false : this.factors.isNeeded(accountId),
      this.accounts.isSignInExpired(accountId, session.loginTs ?? 0),
    ]);
    if (person === undefined || needsSecondFactor || isSignInExpired) throw this.signInNeeded(request);
    const formOwner = `account:${sessionUid}`;
    const browser = browserRequest(request);
    if (request.method === 'POST') this.forms.verify(formOwner, browser);
    return {
      ...browser,
      person,
      sessionUid,
      account: { email: person.email, csrf: this.forms.issue(formOwner) },
      notice: doneNotice(request.query['done']),
      rotateSession: (verified = {}) => this.rotateSession(request, response, verified),
    };
  }

  private async rotateSession(request: Request, response: Response, { loginTs, amr }: VerifiedFactor) {
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

  private signInNeeded({ path }: Request): SignInNeeded {
    return new SignInNeeded(signInUrl(this.config.AUTH_URL, accountPageOf(path)));
  }
}
