import { issuer } from '@fulfilment/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Person, ReadAccounts } from '../users/read-accounts.js';
import { CONFIG, type Config } from '../config.js';
import { signInAddress } from '../registration/account-client.js';
import { signInLimits } from '../oidc/lifetimes.rules.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { AccountFrame } from '../pages/account.page.js';
import { FormTokens } from '../pages/form-tokens.js';
import { field } from '../pages/forms.js';
import { SignInNeeded } from '../pages/page-errors.js';
import { isMfaAuthenticated } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';

/** The signed-in person of an account page. */
export interface SignedIn {
  readonly person: Person;
  readonly sessionUid: string;
  readonly frame: AccountFrame;
}

const pages = ['/account', '/account/apps', '/account/browsers', '/account/security'] as const;
type AccountPath = (typeof pages)[number];

/** The account page of a path; the overview for an unknown path. */
export function pageOf(path: unknown): AccountPath {
  return pages.findLast((page) => typeof path === 'string' && path.startsWith(page)) ?? '/account';
}

/** Opens the account of the person whose oidc-provider session the browser has. */
@Injectable()
export class OpenAccount {
  constructor(
    private readonly oidc: OidcServer,
    private readonly accounts: ReadAccounts,
    private readonly factors: SecondFactors,
    private readonly forms: FormTokens,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** @throws SignInNeeded */
  async requireSignedIn(request: Request, response: Response): Promise<SignedIn> {
    const { provider } = this.oidc;
    const session = await provider.Session.get(provider.createContext(request, response));
    const { accountId, uid: sessionUid } = session;
    if (accountId === undefined) throw this.signInNeeded(request);
    const [person, needsSecondFactor, isSignInExpired] = await Promise.all([
      this.accounts.person(accountId, undefined),
      isMfaAuthenticated(session.amr) ? false : this.factors.isNeeded(accountId),
      this.accounts.isSignInExpired(accountId, session.loginTs ?? 0, signInLimits(this.config)),
    ]);
    if (person === undefined || needsSecondFactor || isSignInExpired) throw this.signInNeeded(request);
    const csrf = this.forms.issue(formOf(sessionUid));
    return { person, sessionUid, frame: { email: person.email, csrf } };
  }

  /**
   * Like `requireSignedIn`, for a submitted form.
   * @throws SignInNeeded, Forbidden when the form's token is invalid
   */
  async requireSignedInWithCsrfToken(request: Request, response: Response): Promise<SignedIn> {
    const signedIn = await this.requireSignedIn(request, response);
    this.forms.verify(formOf(signedIn.sessionUid), field(request, 'csrf'), request);
    return signedIn;
  }

  private signInNeeded(request: Request): SignInNeeded {
    const { AUTH_URL: authUrl } = this.config;
    return new SignInNeeded(signInAddress(issuer(authUrl), authUrl, pageOf(request.path)));
  }
}

function formOf(sessionUid: string): string {
  return `account:${sessionUid}`;
}
