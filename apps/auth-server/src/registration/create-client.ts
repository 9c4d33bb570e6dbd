import { type Database, statement } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import { accountClientId } from '../oidc/account-client.js';
import { applicationType, redirectRefusal } from '../oidc/client-registration.rules.js';
import { clientSecret, sealedClient } from '../tokens/adapter.js';

const redirectUri = z.string().superRefine((uri, context) => {
  const reason = redirectRefusal(uri);
  if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
});

export interface NewClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly firstParty: boolean;
  readonly confidential: boolean;
  /** May introspect access tokens of other clients. It is confidential. */
  readonly resourceServer: boolean;
  readonly id?: string | undefined;
}

/** The operator's arguments, by the flags as typed. A resource server is confidential, and needs no redirect address. */
export const newClient = z
  .object({
    name: z
      .string('is missing')
      .trim()
      .min(1, 'must not be empty')
      .max(100, 'must be at most 100 characters long'),
    'redirect-uri': z.array(redirectUri).default([]),
    'first-party': z.boolean().default(false),
    confidential: z.boolean().default(false),
    'resource-server': z.boolean().default(false),
    id: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes and underscores')
      .refine((id) => id !== accountClientId, 'is taken by the account pages')
      .optional(),
  })
  .refine((given) => given.confidential || given['resource-server'] || given['redirect-uri'].length > 0, {
    message: 'is missing: a public client needs one',
    path: ['redirect-uri'],
  })
  .transform(({ name, id, confidential, ...flags }): NewClient => ({
    name,
    redirectUris: flags['redirect-uri'],
    firstParty: flags['first-party'],
    confidential: confidential || flags['resource-server'],
    resourceServer: flags['resource-server'],
    id,
  }));

/**
 * A first-party client is given tokens for both APIs without a question, so its codes go to https addresses alone: any program on a
 * person's computer could use a loopback address or claim a private-use scheme (RFC 8252 §8.6).
 * @throws Error naming the option
 */
export function requireHttpsOfFirstParty({ firstParty, redirectUris }: NewClient): void {
  if (!firstParty || redirectUris.every((uri) => uri.startsWith('https:'))) return;
  throw new Error(
    '--redirect-uri must use https with --first-party. Other addresses are allowed in development only, where the host of AUTH_URL is this computer.',
  );
}

export interface CreatedClient {
  readonly client_id: string;
  readonly client_secret?: string;
}

const insert = statement(
  'clients.insert',
  `INSERT INTO oidc_model (model, id, payload) VALUES ('Client', $1, $2) ON CONFLICT (model, id) DO NOTHING`,
);
const findSealed = statement(
  'clients.sealed',
  `SELECT payload ->> 'client_secret_sealed' AS sealed FROM oidc_model WHERE model = 'Client' AND id = $1`,
);

/** Makes a client as only the operator may; one that has the given id already stays as it is and is answered with its secret. */
export async function createClient(
  database: Database,
  client: NewClient,
  secrets: SecretBox,
): Promise<CreatedClient> {
  const clientId = client.id ?? randomBytes(16).toString('base64url');
  const stored = sealedClient(secrets, clientId, metadataOf(clientId, client));
  await database.transaction(async (tx) => {
    if ((await tx.run(insert, [clientId, stored])) === 0) return;
    const { name, firstParty, confidential, resourceServer } = client;
    await auditOperator(tx, {
      event: 'client_registered',
      clientId,
      details: { name, first_party: firstParty, confidential, resource_server: resourceServer },
    });
  });
  const sealed = (await database.row<{ sealed: string | null }>(findSealed, [clientId]))?.sealed;
  if (sealed === undefined || sealed === null) return { client_id: clientId };
  return { client_id: clientId, client_secret: clientSecret(secrets, clientId, sealed) };
}

function metadataOf(clientId: string, client: NewClient) {
  const interactive = client.redirectUris.length > 0;
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: client.name,
    redirect_uris: [...client.redirectUris],
    post_logout_redirect_uris: client.redirectUris
      .flatMap((uri) => [uri, new URL('/', uri).href])
      .filter(unique),
    response_types: interactive ? (['code'] as const) : [],
    grant_types: interactive ? ['authorization_code', 'refresh_token'] : [],
    application_type: interactive ? applicationType(client.redirectUris) : ('web' as const),
    token_endpoint_auth_method: client.confidential ? ('client_secret_basic' as const) : ('none' as const),
    ...(client.confidential
      ? { client_secret: randomBytes(32).toString('base64url'), client_secret_expires_at: 0 }
      : {}),
    verified: true, // the operator knows who is behind it
    ...(client.firstParty ? { first_party: true } : {}),
    ...(client.resourceServer ? { resource_server: true } : {}),
  };
}

function unique(uri: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(uri) === index;
}
