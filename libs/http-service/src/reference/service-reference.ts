import { type Api, type ApiPart, apiPart, localAddresses, type Route } from '@fulfilment/api-reference';
import { audiences, issuer, dpopSigningAlgorithms } from '@fulfilment/contracts';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { z } from 'zod';
import { protectedResourcePath } from '../protected-resource.js';

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
    checks: z.record(z.string(), z.literal('ok')).describe('The dependencies of the service, by name'),
  })
  .meta({
    id: 'Readiness',
    description: 'The service and all its dependencies are available.',
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

const open = {
  method: 'get',
  status: 200,
  access: 'public',
  headers: [],
  extraHeaders: ['Cache-Control'],
} as const;

/** The operations of every API that have no controller, since `startApi` serves them. */
export function serviceReference(options: {
  readonly api: Api;
  readonly name: string;
  readonly scopes: readonly string[];
}): ApiPart {
  const routes: Route[] = [
    {
      ...open,
      path: '/health/live',
      operation: {
        id: 'readLiveness',
        tag: serviceTag.name,
        summary: 'Check liveness',
        answer: { description: 'The process is running.', shape: live },
      },
    },
    {
      ...open,
      path: '/health/ready',
      operation: {
        id: 'readReadiness',
        tag: serviceTag.name,
        summary: 'Check readiness',
        answer: { description: 'The service can handle requests.', shape: ready },
        errors: [
          {
            when: 'The service is starting, or dependencies are unavailable; `details` has one element for each.',
            example: new ServiceUnavailable('The service is not ready.', [
              { field: 'postgres', reason: 'unavailable' },
            ]),
          },
        ],
      },
    },
    {
      ...open,
      path: protectedResourcePath(options.api),
      server: localAddresses.baseUrl,
      operation: {
        id: 'readProtectedResourceMetadata',
        tag: serviceTag.name,
        summary: 'Read the protected resource metadata',
        description:
          'Names the authorization server of this API. `resource_metadata` in the challenge of every 401 is its URL (RFC 9728).',
        answer: {
          description: 'The metadata.',
          shape: metadata,
          examples: { example: { value: metadataExample(options) } },
        },
      },
    },
    {
      ...open,
      path: '/openapi.json',
      operation: {
        id: 'readOpenApiDocument',
        tag: serviceTag.name,
        summary: 'Read this reference as OpenAPI',
        answer: {
          description: 'The OpenAPI 3.1 document of this API.',
          shape: document,
          headers: ['ETag'],
          examples: { example: { summary: 'The first member', value: { openapi: '3.1.1' } } },
        },
      },
    },
    {
      ...open,
      path: '/docs',
      contentType: 'text/html',
      operation: {
        id: 'readReferencePage',
        tag: serviceTag.name,
        summary: 'Read this reference as a page',
        answer: { description: 'An HTML page without scripts.', shape: z.string(), headers: ['ETag'] },
      },
    },
  ];
  return apiPart({ api: options.api, tags: [serviceTag], routes, quotas: {} });
}

function metadataExample({
  api,
  name,
  scopes,
}: Parameters<typeof serviceReference>[0]): z.input<typeof metadata> {
  return {
    resource: audiences(localAddresses.baseUrl)[api],
    resource_name: name,
    authorization_servers: [issuer(localAddresses.authUrl)],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: [...dpopSigningAlgorithms],
    dpop_bound_access_tokens_required: false,
    scopes_supported: [...scopes],
  };
}
