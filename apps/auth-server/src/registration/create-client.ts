import { type Database, statement } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import { accountClientId } from './account-client.js';
import { applicationType, redirectUriProblem } from './client-registration.rules.js';
import { sealClient } from './client-secret.js';

const redirectUri = z.string().superRefine((uri, context) => {
  const reason = redirectUriProblem(uri);
  if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
});

export interface NewClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly firstParty: boolean;
  readonly confidential: boolean;
  /** Whether it may introspect access tokens of other clients. A resource server is confidential. */
  readonly resourceServer: boolean;
  readonly id?: string | undefined;
}

/** Options of `client create`. A resource server is confidential, and needs no redirect URI. */
export const createClientOptions = z
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
      .refine((id) => id !== accountClientId, 'is reserved for the account pages')
      .optional(),
  })
  .refine(
    (options) => options.confidential || options['resource-server'] || options['redirect-uri'].length > 0,
    {
      message: 'is missing; a public client needs one',
      path: ['redirect-uri'],
    },
  )
  .transform(({ name, id, confidential, ...options }): NewClient => ({
    name,
    redirectUris: options['redirect-uri'],
    firstParty: options['first-party'],
    confidential: confidential || options['resource-server'],
    resourceServer: options['resource-server'],
    id,
  }));

/**
 * A first-party client gets tokens for both APIs without consent, so its redirect URIs must be https: any
 * program on a person's computer could use a loopback address or claim a private-use scheme (RFC 8252 §8.6).
 * @throws Error that names the option
 */
export function requireHttpsForFirstParty({ firstParty, redirectUris }: NewClient): void {
  if (!firstParty || redirectUris.every((uri) => uri.startsWith('https:'))) return;
  throw new Error(
    '--redirect-uri must use https with --first-party. Other URIs are allowed only in development, where the host of AUTH_URL is loopback.',
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
const find = statement(
  'clients.existing',
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1`,
);

/**
 * Creates a client for the operator, who may give it rights that a self-registered client cannot get. Returns
 * its secret, which cannot be read later. An existing client with the given id stays unchanged, and its
 * secret is not returned (`client secret` creates a new one).
 * @throws Error when an existing client differs from the options
 */
export async function createClient(
  database: Database,
  client: NewClient,
  secrets: SecretBox,
): Promise<CreatedClient> {
  const clientId = client.id ?? randomBytes(16).toString('base64url');
  const metadata = metadataOf(clientId, client);
  const created = await database.transaction(async (tx) => {
    if ((await tx.run(insert, [clientId, sealClient(secrets, clientId, metadata)])) === 0) return false;
    const { name, firstParty, confidential, resourceServer } = client;
    await auditOperator(tx, {
      event: 'client_registered',
      clientId,
      details: { name, first_party: firstParty, confidential, resource_server: resourceServer },
    });
    return true;
  });
  if (created) return { client_id: clientId, client_secret: metadata.client_secret };
  const existing = await database.row<{ payload: AdapterPayload }>(find, [clientId]);
  if (existing === undefined || !hasSameValues(existing.payload, metadata))
    throw new Error(`The client ${clientId} already exists with different values.`);
  return { client_id: clientId };
}

const comparedMembers = [
  'client_name',
  'redirect_uris',
  'token_endpoint_auth_method',
  'first_party',
  'resource_server',
  'verified',
] as const;

function hasSameValues(existing: AdapterPayload, requested: AdapterPayload): boolean {
  return comparedMembers.every((member) => isDeepStrictEqual(existing[member], requested[member]));
}

function metadataOf(clientId: string, client: NewClient): AdapterPayload {
  const signsPeopleIn = client.redirectUris.length > 0;
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: client.name,
    redirect_uris: [...client.redirectUris],
    // Each redirect URI and the root of its host; `com.example.app:callback` has no root.
    post_logout_redirect_uris: [
      ...new Set(client.redirectUris.flatMap((uri) => [uri, URL.parse('/', uri)?.href ?? uri])),
    ],
    response_types: signsPeopleIn ? (['code'] as const) : [],
    grant_types: signsPeopleIn ? ['authorization_code', 'refresh_token'] : [],
    application_type: signsPeopleIn ? applicationType(client.redirectUris) : ('web' as const),
    token_endpoint_auth_method: client.confidential ? ('client_secret_basic' as const) : ('none' as const),
    ...(client.confidential
      ? { client_secret: randomBytes(32).toString('base64url'), client_secret_expires_at: 0 }
      : {}),
    verified: true, // the operator knows its owner
    ...(client.firstParty ? { first_party: true } : {}),
    ...(client.resourceServer ? { resource_server: true } : {}),
  };
}
