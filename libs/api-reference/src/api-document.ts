import { issuer } from '@fulfilment/contracts';
import { accessTokenScheme, describeRoute } from './describe-route.js';
import type { OpenApiDocument, PathItem } from './document.js';
import { errorShape } from './errors.js';
import { localAddresses } from './headers.js';
import type { Api, ServiceReference } from './route.js';
import type { Schema, Schemas } from './schema.js';
import { shapeSchema } from './shape-schema.js';
import { extractComponents, sortByName } from './components.js';

export interface DocumentOptions {
  readonly api: Api;
  readonly info: OpenApiDocument['info'];
  readonly scopes: Readonly<Record<string, string>>;
  readonly services: readonly ServiceReference[];
}

/**
 * Creates the OpenAPI document of an API from the references of its services.
 * @throws Error when documentation is missing, two operations have the same method and path, or two different
 *   schemas have the same name
 */
export function createApiDocument({ api, info, scopes, services }: DocumentOptions): OpenApiDocument {
  const paths: Record<string, PathItem> = {};
  const webhooks: Record<string, PathItem> = {};
  const schemas: Record<string, Schema> = {};
  const addSchemas = (named: Schemas = {}): void => {
    for (const [name, schema] of Object.entries(named)) {
      const known = schemas[name] ?? schema;
      if (JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`There are two schemas ${name}.`);
      schemas[name] = schema;
    }
  };
  addSchemas(shapeSchema(errorShape).schemas);
  for (const service of services) {
    addSchemas(service.schemas);
    Object.assign(webhooks, service.webhooks);
    for (const route of service.routes) {
      const described = describeRoute(route, api);
      const item = (paths[route.path] ??= {});
      if (item[route.method] !== undefined) throw new Error(`There are two ${route.method} ${route.path}.`);
      item[route.method] = described.operation;
      addSchemas(described.schemas);
    }
  }
  const components = extractComponents(paths);
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: `${localAddresses.baseUrl}/${api}` }],
    security: [{ [accessTokenScheme]: [] }],
    tags: services.flatMap(({ tags }) => tags),
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      schemas: sortByName(schemas),
      ...components,
      securitySchemes: { [accessTokenScheme]: describeAccessTokens(scopes) },
    },
  };
}

function describeAccessTokens(scopes: Readonly<Record<string, string>>) {
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
