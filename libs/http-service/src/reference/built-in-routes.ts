import {
  type Api,
  localAddresses,
  type OperationDoc,
  type Route,
  type ServiceReference,
} from '@fulfilment/api-reference';
import { dpopSigningAlgorithms } from '@fulfilment/contracts';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { z } from 'zod';
import { protectedResourceMetadata, protectedResourcePath } from '../protected-resource.js';

const serviceTag = {
  name: 'Service',
  description:
    'Health, discovery and this reference. These operations need no access token and have no rate limit.',
};

const live = z.object({ status: z.literal('ok').describe('Always `ok`') }).meta({
  id: 'Liveness',
  description: 'The process is running.',
  examples: [{ status: 'ok' }],
});
const ready = z
  .object({
    status: z.literal('ok').describe('Always `ok`'),
    checks: z.record(z.string(), z.literal('ok')).describe('The checked dependencies, by name'),
  })
  .meta({
    id: 'Readiness',
    description: 'All checked dependencies are available.',
    examples: [{ status: 'ok', checks: { postgres: 'ok', redis: 'ok', rabbitmq: 'ok' } }],
  });
const metadata = z
  .object({
    resource: z.url().describe("The API's identifier: the audience of its tokens"),
    resource_name: z.string().describe('Human-readable name of the API'),
    authorization_servers: z.array(z.url()).describe('Issuers of the tokens that the API accepts'),
    bearer_methods_supported: z
      .array(z.literal('header'))
      .describe('How clients may send a token (RFC 6750 §2)'),
    dpop_signing_alg_values_supported: z
      .array(z.enum(dpopSigningAlgorithms))
      .describe('Algorithms of DPoP proofs (RFC 9449)'),
    dpop_bound_access_tokens_required: z
      .literal(false)
      .describe('Always `false`: Bearer tokens are accepted as well'),
    scopes_supported: z.array(z.string()).describe('Scopes that operations of the API require'),
  })
  .meta({
    id: 'ProtectedResourceMetadata',
    description:
      'Protected resource metadata (RFC 9728 §2): which authorization server issues access tokens for this API.',
  });
const document = z
  .looseObject({ openapi: z.literal('3.1.1').describe('Version of the OpenAPI specification') })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document.' });

/** Returns the operations that every API has without a controller: `startHttp` and `ApiModule` serve them. */
export function builtInRoutes(api: Api, name: string, scopes: readonly string[]): ServiceReference {
  const metadataExample = protectedResourceMetadata(api, name, scopes, localAddresses);
  const notReady = new ServiceUnavailable('The service is not ready.', [
    { field: 'postgres', reason: 'unavailable' },
  ]);
  return {
    tags: [serviceTag],
    routes: [
      publicRoute('/health/live', {
        id: 'readLiveness',
        summary: 'Check liveness',
        response: { description: 'The process is running.', shape: live },
      }),
      publicRoute('/health/ready', {
        id: 'readReadiness',
        summary: 'Check readiness',
        response: { description: 'The service can handle requests.', shape: ready },
        errors: [
          {
            when: 'The service is starting, or dependencies are unavailable; `details` has one element for each.',
            example: notReady,
          },
        ],
      }),
      publicRoute('/health/serving', {
        id: 'readServing',
        summary: 'Check whether requests are served',
        response: { description: 'Requests are handled, possibly without Redis or RabbitMQ.', shape: ready },
        errors: [{ when: 'The service is starting, or PostgreSQL is unavailable.', example: notReady }],
      }),
      {
        ...publicRoute(protectedResourcePath(api), {
          id: 'readProtectedResourceMetadata',
          summary: 'Read the protected resource metadata',
          description:
            'Names the authorization server of this API. `resource_metadata` in the challenge of every 401, and of a 403 for a missing scope, is its URL (RFC 9728).',
          response: {
            description: 'The metadata.',
            shape: metadata,
            examples: { example: { value: metadataExample } },
          },
        }),
        server: localAddresses.baseUrl,
      },
      publicRoute('/openapi.json', {
        id: 'readOpenApiDocument',
        summary: 'Read this reference as OpenAPI',
        response: {
          description: 'The OpenAPI 3.1 document of this API.',
          shape: document,
          headers: ['ETag'],
          examples: { example: { summary: 'The first member', value: { openapi: '3.1.1' } } },
        },
      }),
      {
        ...publicRoute('/docs', {
          id: 'readReferencePage',
          summary: 'Read this reference as a page',
          response: { description: 'An HTML page without scripts.', shape: z.string(), headers: ['ETag'] },
        }),
        contentType: 'text/html',
      },
    ],
  };
}

function publicRoute(path: string, operation: Omit<OperationDoc, 'tag'>): Route {
  return {
    method: 'get',
    path,
    status: 200,
    access: 'public',
    headers: [],
    extraHeaders: ['Cache-Control'],
    operation: { ...operation, tag: serviceTag.name },
  };
}
