import { issuer } from '@fulfilment/contracts';
import { type ApiPart, UniqueNames } from './api-part.js';
import { accessTokenScheme } from './describe-route.js';
import type { OpenApiDocument, PathItem } from './document.js';
import { errorShape } from './errors.js';
import { localAddresses } from './local-addresses.js';
import type { Schema } from './schema.js';
import { shapeSchema } from './shape-schema.js';
import { shareResponses } from './share.js';

export interface DocumentOptions {
  readonly info: OpenApiDocument['info'];
  /** First path segment of the API. */
  readonly prefix: string;
  readonly scopes: Readonly<Record<string, string>>;
  readonly parts: readonly ApiPart[];
}

/**
 * Merges the parts of several services into one document.
 * @throws Error when two parts define a name differently
 */
export function apiDocument({ info, prefix, scopes, parts }: DocumentOptions): OpenApiDocument {
  const paths = new UniqueNames<PathItem>('paths');
  const webhooks = new UniqueNames<PathItem>('webhooks');
  const schemas = new UniqueNames<Schema>('shapes');
  schemas.addAll(shapeSchema(errorShape).schemas);
  for (const part of parts) {
    paths.addAll(part.paths);
    webhooks.addAll(part.webhooks);
    schemas.addAll(part.schemas);
  }
  const events = webhooks.inOrder();
  const shared = shareResponses(paths.inOrder());
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: `${localAddresses.baseUrl}/${prefix}` }],
    security: [{ [accessTokenScheme]: [] }],
    tags: parts.flatMap(({ tags }) => tags),
    paths: shared.paths,
    ...(Object.keys(events).length > 0 && { webhooks: events }),
    components: {
      schemas: schemas.sorted(),
      ...shared.components,
      securitySchemes: { [accessTokenScheme]: accessTokens(scopes) },
    },
  };
}

function accessTokens(scopes: Readonly<Record<string, string>>) {
  const endpoint = (name: string): string => `${issuer(localAddresses.authUrl)}/oauth2/${name}`;
  return {
    type: 'oauth2' as const,
    description: [
      'An access token (RFC 9068, valid for one hour), sent as `Authorization: Bearer …`. Clients obtain it by the authorization code flow with PKCE (`S256`, required for every client;',
      'OAuth 2.1). With the scope `offline_access` the client also receives a refresh token. Refresh tokens rotate: each can be used once.',
      `${Object.keys(scopes).length > 0 ? 'No scope implies another. ' : ''}A token that is bound to a key by DPoP (RFC 9449) must be`,
      'sent as `Authorization: DPoP …` with a proof of possession in the header `DPoP`; it is rejected if sent as Bearer.',
    ].join(' '),
    flows: {
      authorizationCode: {
        authorizationUrl: endpoint('authorize'),
        tokenUrl: endpoint('token'),
        refreshUrl: endpoint('token'),
        scopes: { ...scopes },
      },
    },
  };
}
