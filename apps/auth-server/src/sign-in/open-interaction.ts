import type { Request, Response } from 'express';
import { type Client, errors, type Interaction, type InteractionResults } from 'oidc-provider';
import type { OidcServer } from '../oidc/oidc-server.js';
import { words } from '../oidc/requested-scope.js';
import { InteractionExpired } from '../pages/page-errors.js';
import { identityDigest, identityOf } from '../registration/client-identity.rules.js';
import { formTarget } from '../pages/page.js';

/** How far a sign-in of two factors has come. It lies in the interaction, which only this browser can go on with. */
export interface SignInProgress {
  readonly passwordOf?: string;
  /** When the password was right, in seconds since 1970: what is changed later makes it worth nothing. */
  readonly passwordAt?: number;
  readonly provedBoth?: boolean;
}

/** One question that oidc-provider wants answered before it goes on. */
export interface OpenInteraction {
  readonly uid: string;
  readonly prompt: string;
  readonly client: Client;
  readonly appName: string;
  /** Digest of what people see of the client (client-identity.rules.ts). */
  readonly appIdentity: string;
  readonly accountId: string | undefined;
  /** Of the session the browser has already, if it has one. */
  readonly sessionUid: string | undefined;
  readonly loginHint: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly formTargets: readonly string[];
  /** Whose password was right already, when the second factor is still to come. */
  readonly passwordOf: string | undefined;
  /** When it was, in seconds since 1970. */
  readonly passwordAt: number;
  /** Whether the second factor was proved too, and the recovery codes are being shown. */
  readonly provedBoth: boolean;
  /** Remembers how far this browser has come; nobody is signed in yet. */
  remember(progress: SignInProgress): Promise<void>;
  /** Answers it. Resolves to where the browser goes next. */
  finish(result: InteractionResults): Promise<string>;
}

/** Opens the interaction of this browser's cookie; another browser's cannot be opened. @throws InteractionExpired */
export async function openInteraction(
  oidc: OidcServer,
  request: Request,
  response: Response,
): Promise<OpenInteraction> {
  const { provider } = oidc;
  const interaction = await detailsOf(oidc, request, response);
  const client = await provider.Client.find(text(interaction.params.client_id));
  if (interaction.uid !== request.params['uid'] || client === undefined) throw new InteractionExpired();
  const redirectUri = text(interaction.params.redirect_uri);
  return {
    uid: interaction.uid,
    prompt: interaction.prompt.name,
    client,
    appName: client.clientName ?? (new URL(redirectUri).host || 'an app without a name'),
    appIdentity: identityDigest(
      identityOf({
        client_name: client.clientName,
        redirect_uris: client.redirectUris,
        application_type: client.applicationType,
      }),
    ),
    accountId: interaction.session?.accountId,
    sessionUid: interaction.session?.uid,
    loginHint: text(interaction.params.login_hint).slice(0, 254),
    scopes: words(interaction.params.scope),
    redirectUri,
    formTargets: [formTarget(redirectUri)].filter((target) => target !== undefined),
    passwordOf: text(interaction.result?.['passwordOf']) || undefined,
    passwordAt: Number(interaction.result?.['passwordAt'] ?? 0),
    provedBoth: interaction.result?.['provedBoth'] === true,
    remember: async (progress) => {
      interaction.result = { ...progress };
      await interaction.persist();
    },
    finish: (result) =>
      provider.interactionResult(request, response, result, { mergeWithLastSubmission: true }),
  };
}

async function detailsOf(oidc: OidcServer, request: Request, response: Response): Promise<Interaction> {
  try {
    return await oidc.provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) throw new InteractionExpired();
    throw error;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
