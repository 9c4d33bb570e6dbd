import {
  type ErrorCode,
  errorCodes,
  type ErrorDetail,
  type ErrorEnvelope,
  Forbidden,
  PayloadTooLarge,
  RateLimited,
  ServiceUnavailable,
  toErrorResponse,
  Unauthorized,
  UnsupportedMediaType,
  ValidationFailed,
} from '@fulfilment/error-envelope';
import { z } from 'zod';
import type { Example, Header, Response } from './document.js';
import { dtoSchema } from './dto-schema.js';
import { optional, standardHeaders } from './headers.js';
import { localAddresses } from './local-addresses.js';
import type { ErrorDoc } from './operation.js';
import type { Api, Route } from './route.js';
import { componentRef } from './schema.js';

/** The envelope of all errors. */
export const errorShape = z
  .object({
    statusCode: z.int().min(400).max(599).describe('The HTTP status code, the same as that of the response'),
    code: z.enum(errorCodes).describe('Machine-readable code; stable, branch on it'),
    error: z.string().describe('The HTTP status text'),
    message: z.string().describe('Human-readable message; not stable, do not parse it'),
    details: z
      .array(
        z.object({
          field: z
            .string()
            .describe(
              'A path in the body (`items.0.quantity`), the name of a parameter, or the name of a header in lower case',
            ),
          reason: z.string().describe('A stable code (`insufficient_stock`) or a human-readable sentence'),
        }),
      )
      .optional()
      .describe('The problems of the request, one element each'),
  })
  .meta({
    id: 'Error',
    description: 'The envelope of all error responses.',
    examples: [
      envelopeOf(
        new ValidationFailed([{ field: 'items.0.quantity', reason: 'must be an integer from 1 to 1000' }]),
      ),
    ],
  });

/** The challenge of an API with local addresses. */
function challengeOf(api: Api): string {
  return `Bearer realm="api", resource_metadata="${localAddresses.baseUrl}/.well-known/oauth-protected-resource/${api}"`;
}

/** Errors of authentication and quotas, before the operation runs. */
function errorsOfAccess({ access, retryOnlyWithKey }: Route, challenge: string): ErrorDoc[] {
  const onlyWithKey =
    retryOnlyWithKey === true
      ? ' Retry only if the request had an `idempotency-key`; otherwise there is no `Retry-After`.'
      : '';
  const always: ErrorDoc[] = [
    { when: 'An unexpected error on the server.', example: new InternalError() },
    {
      when: `A dependency is unavailable, or the service is starting. Retry after the seconds in \`Retry-After\`.${onlyWithKey}`,
      example: new ServiceUnavailable(),
    },
  ];
  if (access === 'public') return always;
  const scope = access.scopes.join(' ');
  return [
    {
      when: 'The access token is missing, malformed, expired, revoked or not for this API.',
      example: new Unauthorized(
        'The access token is malformed, expired, revoked or not for this API.',
        challenge,
      ),
    },
    ...(scope === ''
      ? []
      : [
          {
            when: `The access token lacks the scope \`${scope}\`.`,
            example: new Forbidden(`The access token lacks the scope ${scope}.`, challenge),
          },
        ]),
    {
      when: `The quota is exceeded. Retry after the seconds in \`Retry-After\`.${onlyWithKey}`,
      example: new RateLimited(1),
    },
    ...always,
  ];
}

const malformed = new ValidationFailed(
  [{ field: 'body', reason: 'malformed_json' }],
  'The request body is not valid JSON.',
);

/** Errors of the form of a request. */
function errorsOfInput({ bodyLimitBytes, body, query, params, headers }: Route): ErrorDoc[] {
  const checked = [body, query, params].some((dto) => dto !== undefined) || headers.length > 0;
  if (!checked && bodyLimitBytes === undefined) return [];
  const bad: ErrorDoc = {
    when: 'The request does not have the documented shape; `details` names the invalid members, parameters or headers.',
    example:
      bodyLimitBytes === undefined ? new ValidationFailed([wrongParameter({ query, params })]) : malformed,
  };
  if (bodyLimitBytes === undefined) return [bad];
  return [
    bad,
    {
      when: `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
      example: new PayloadTooLarge(bodyLimitBytes),
    },
    {
      when: 'The `Content-Type` of the body is not JSON, or the body is compressed.',
      example: new UnsupportedMediaType(),
    },
  ];
}

/** Example error detail of the first parameter that can be invalid. */
function wrongParameter({ query, params }: Pick<Route, 'query' | 'params'>): ErrorDetail {
  const members = [query, params].flatMap((dto) =>
    dto === undefined ? [] : Object.entries(dtoSchema(dto).schema.properties ?? {}),
  );
  for (const [field, { type, minimum, maximum, format }] of members) {
    if (type === 'integer') return { field, reason: `must be an integer from ${minimum} to ${maximum}` };
    if (format === 'uuid') return { field, reason: 'must be a UUID' };
  }
  return { field: 'limit', reason: 'must be an integer from 1 to 100' };
}

/**
 * All error responses of an operation by status.
 * @throws Error when the path has parameters and no 404 is documented
 */
export function errorResponses(route: Route, api: Api): Record<string, Response> {
  const challenge = challengeOf(api);
  const docs = [
    ...errorsOfInput(route),
    ...errorsOfAccess(route, challenge),
    ...(route.operation.errors ?? []),
  ];
  const byStatus = Map.groupBy(docs, ({ example }) => String(toErrorResponse(example).status));
  if (route.path.includes('{') && !byStatus.has('404')) {
    throw new Error(`${route.operation.id} has a path parameter but documents no 404.`);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => Number(one) - Number(other))
      .map(([status, of]) => [status, response(of, challenge, route.retryOnlyWithKey === true)]),
  );
}

function response(docs: readonly ErrorDoc[], challenge: string, retryOnlyWithKey: boolean): Response {
  const envelopes = docs.map(({ example }) => envelopeOf(example));
  const [{ statusCode, code } = envelopeOf(new InternalError())] = envelopes;
  return {
    description: docs.map(({ when }) => when).join('\n\n'),
    headers: errorHeaders(statusCode, code, challenge, retryOnlyWithKey),
    content: {
      'application/json': {
        schema: {
          allOf: [
            componentRef('Error'),
            { properties: { statusCode: { const: statusCode }, code: { const: code } } },
          ],
        },
        examples: namedExamples(envelopes),
      },
    },
  };
}

function errorHeaders(
  status: number,
  code: ErrorCode,
  challenge: string,
  retryOnlyWithKey: boolean,
): Record<string, Header> {
  const { RateLimit, 'RateLimit-Policy': policy, 'Retry-After': retryAfter, ...rest } = standardHeaders;
  const challenged = { ...rest['WWW-Authenticate'], example: challenge };
  return {
    'X-Request-Id': rest['X-Request-Id'],
    ...(status === 401 && { 'WWW-Authenticate': challenged }),
    ...(status === 403 && { 'WWW-Authenticate': optional(challenged) }),
    ...((code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE') && {
      'Retry-After': retryOnlyWithKey ? optional(retryAfter) : retryAfter,
    }),
    ...(code === 'CONFLICT' && { 'Retry-After': optional(retryAfter) }),
    ...(status !== 401 && { 'RateLimit-Policy': policy, RateLimit }),
  };
}

/** Examples under unique names. */
function namedExamples(envelopes: readonly ErrorEnvelope[]): Record<string, Example> {
  const names = new Map<string, Example>();
  for (const envelope of envelopes) {
    const word = envelope.details?.[0]?.reason ?? '';
    const name = /^[a-z_]+$/.test(word) ? word : envelope.code.toLowerCase();
    names.set(names.has(name) ? `${name}_${names.size + 1}` : name, {
      summary: envelope.message,
      value: envelope,
    });
  }
  return Object.fromEntries(names);
}

function envelopeOf(problem: unknown): ErrorEnvelope {
  return toErrorResponse(problem).body;
}

/** Unexpected errors become the 500. */
class InternalError extends Error {}
