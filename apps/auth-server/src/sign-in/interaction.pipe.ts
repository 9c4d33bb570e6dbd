import { type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { Request, Response } from 'express';
import Provider, { type Client, errors, type Interaction, type InteractionResults } from 'oidc-provider';
import { OidcServer } from '../oidc/oidc-server.js';
import { splitScope } from '../oidc/authorization/authorization-request.js';
import { type BrowserRequest, browserRequest } from '../pages/browser-request.js';
import { FormTokens } from '../pages/form-tokens.js';
import { InteractionExpired } from '../pages/page-errors.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { identityDigest, identityOf } from '../registration/client-identity.rules.js';
import { formActionSource } from '../pages/page.js';
import type { InteractionContext } from '../pages/sign-in/interaction-context.js';

/** Matches like the routes of Express: in upper or lower case, with or without a slash at the end. */
const consentPath = /\/consent\/?$/i;

/** Progress of a sign-in with two factors, stored in the interaction, which only its browser can open. */
interface SignInProgress {
  /** Id of the user whose password was verified, while the second factor is missing. */
  readonly passwordVerifiedFor: string | undefined;
  /** When the password was verified, in seconds since 1970. A later new password makes it invalid. */
  readonly passwordVerifiedAt: number;
  /** True once the second factor was verified too, while the recovery codes are shown. */
  readonly secondFactorVerified: boolean;
}

/** An interaction of oidc-provider in progress: a sign-in or a consent. */
export interface OpenInteraction extends BrowserRequest, SignInProgress {
  readonly prompt: string;
  readonly client: Client;
  /** For the pages of the interaction. */
  readonly context: InteractionContext;
  /** Digest of the client's identity (client-identity.rules.ts). */
  readonly appIdentity: string;
  readonly accountId: string | undefined;
  /** Session of the browser, if it has one. */
  readonly sessionUid: string | undefined;
  readonly loginHint: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** Redirect to the page of the current step. */
  readonly currentStepRedirect: PageResult;
  /** Replaces the progress of this browser; omitted members are cleared. The person is not signed in yet. */
  replaceProgress(progress: Partial<SignInProgress>): Promise<void>;
  /** Completes the interaction. Returns the URL that the browser goes to next. */
  finish(result: InteractionResults): Promise<string>;
}

/** Opens the interaction that the browser's cookie and the path name. */
@Injectable()
export class InteractionPipe implements PipeTransform<ExecutionContext, Promise<OpenInteraction>> {
  constructor(
    private readonly oidc: OidcServer,
    private readonly forms: FormTokens,
  ) {}

  /**
   * @throws InteractionExpired when the interaction or its client does not exist, or the interaction belongs
   * to another browser
   * @throws Forbidden when the token of a submitted form is invalid
   */
  async transform(context: ExecutionContext): Promise<OpenInteraction> {
    const { provider } = this.oidc;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const interaction = await detailsOf(provider, request, response);
    const client = await provider.Client.find(text(interaction.params.client_id));
    if (interaction.uid !== request.params['uid'] || client === undefined) throw new InteractionExpired();
    const { uid } = interaction;
    const redirectUri = text(interaction.params.redirect_uri);
    const target = formActionSource(redirectUri);
    const appIdentity = identityDigest(identityOf(client.metadata()));
    const browser = browserRequest(request);
    // The consent form is valid only while the client has the identity that the page showed.
    const consentOwner = `${uid}:${appIdentity}`;
    if (request.method === 'POST')
      this.forms.verify(consentPath.test(request.path) ? consentOwner : uid, browser);
    return {
      ...browser,
      prompt: interaction.prompt.name,
      client,
      context: {
        uid,
        csrf: this.forms.issue(uid),
        consentCsrf: this.forms.issue(consentOwner),
        appName: client.clientName ?? (new URL(redirectUri).host || 'an unnamed app'),
        formActionSources: target === undefined ? [] : [target],
      },
      appIdentity,
      accountId: interaction.session?.accountId,
      sessionUid: interaction.session?.uid,
      loginHint: text(interaction.params.login_hint).slice(0, 254),
      scopes: splitScope(interaction.params.scope),
      redirectUri,
      currentStepRedirect: { redirect: `/interaction/${uid}` },
      ...progressOf(interaction),
      replaceProgress: (progress) => storeProgress(interaction, progress),
      finish: (result) =>
        provider.interactionResult(request, response, result, { mergeWithLastSubmission: true }),
    };
  }
}

// The progress is stored under the names that replicas of release 1.0.0 read.
function progressOf({ result }: Interaction): SignInProgress {
  return {
    passwordVerifiedFor: text(result?.['passwordOf']) || undefined,
    passwordVerifiedAt: Number(result?.['passwordAt'] ?? 0),
    secondFactorVerified: result?.['provedBoth'] === true,
  };
}

async function storeProgress(interaction: Interaction, progress: Partial<SignInProgress>): Promise<void> {
  interaction.result = {
    passwordOf: progress.passwordVerifiedFor,
    passwordAt: progress.passwordVerifiedAt,
    provedBoth: progress.secondFactorVerified,
  };
  await interaction.persist();
}

async function detailsOf(provider: Provider, request: Request, response: Response): Promise<Interaction> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) throw new InteractionExpired();
    throw error;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
