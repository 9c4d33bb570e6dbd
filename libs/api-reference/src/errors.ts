import {
  type ErrorCode,
  errorCodes,
  type ErrorEnvelope,
  Forbidden,
  InternalError,
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
import { localAddresses, makeOptional, standardHeaders } from './headers.js';
import type { ErrorDoc } from './operation.js';
import type { Api, Route } from './route.js';
import { schemaRef, type Schema } from './schema.js';

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
      toErrorResponse(
        new ValidationFailed([{ field: 'items.0.quantity', reason: 'must be an integer from 1 to 1000' }]),
      ).body,
    ],
  });

/** Returns the errors that follow from the access, input and body of a route, and its documented errors. */
function errorsOf(route: Route, challenge: string): readonly ErrorDoc[] {
  const { access, bodyLimitBytes, operation } = route;
  const retryHint =
    route.retryOnlyWithKey === true
      ? 'Retry after the seconds in `Retry-After`. Retry only if the request had an `idempotency-key`; otherwise there is no `Retry-After`.'
      : 'Retry after the seconds in `Retry-After`.';
  return [
    ...(hasInput(route) ? [invalidInput(route)] : []),
    ...(bodyLimitBytes === undefined ? [] : bodyErrors(bodyLimitBytes)),
    ...(access === 'public' ? [] : accessErrors(access.scopes, challenge, retryHint)),
    { when: 'An unexpected error on the server.', example: new InternalError() },
    {
      when: `A dependency is unavailable, or the service is starting. ${retryHint}`,
      example: new ServiceUnavailable(),
    },
    ...(operation.errors ?? []),
  ];
}

function bodyErrors(limitBytes: number): ErrorDoc[] {
  return [
    { when: `The body is larger than ${limitBytes / 1024} KiB.`, example: new PayloadTooLarge(limitBytes) },
    {
      when: 'The `Content-Type` of the body is not JSON, or the body is compressed.',
      example: new UnsupportedMediaType(),
    },
  ];
}

function accessErrors(scopes: readonly string[], challenge: string, retryHint: string): ErrorDoc[] {
  const scope = scopes.join(' ');
  return [
    {
      when: 'The access token is missing, malformed, expired, revoked or not for this API.',
      example: new Unauthorized(
        'The access token is malformed, expired, revoked or not for this API.',
        challenge,
      ),
    },
    { when: `The quota is exceeded. ${retryHint}`, example: new RateLimited(1) },
    ...(scope === ''
      ? []
      : [
          {
            when: `The access token lacks the scope \`${scope}\`.`,
            example: new Forbidden(
              `The access token lacks the scope ${scope}.`,
              `${challenge}, error="insufficient_scope", scope="${scope}"`,
            ),
          },
        ]),
  ];
}

function hasInput({ bodyLimitBytes, body, query, params, headers }: Route): boolean {
  return headers.length > 0 || [bodyLimitBytes, body, query, params].some((input) => input !== undefined);
}

function invalidInput(route: Route): ErrorDoc {
  return {
    when: 'The request does not have the documented shape; `details` names the invalid members, parameters or headers.',
    example: invalidInputExample(route),
  };
}

/**
 * Returns the error for malformed JSON if the route reads a body; otherwise an error about its first
 * parameter that is an integer or a UUID, or else an enumeration.
 * @throws Error when the route has no such parameter
 */
function invalidInputExample({ bodyLimitBytes, query, params, operation }: Route): ValidationFailed {
  if (bodyLimitBytes !== undefined) {
    const detail = { field: 'body', reason: 'malformed_json' };
    return new ValidationFailed([detail], 'The request body is not valid JSON.');
  }
  const members = [query, params].flatMap((dto) =>
    dto === undefined ? [] : Object.entries(dtoSchema(dto).schema.properties ?? {}),
  );
  for (const [field, { type, minimum, maximum, format }] of members) {
    if (type === 'integer') {
      return new ValidationFailed([{ field, reason: `must be an integer from ${minimum} to ${maximum}` }]);
    }
    if (format === 'uuid') return new ValidationFailed([{ field, reason: 'must be a UUID' }]);
  }
  for (const [field, { enum: allowed }] of members) {
    if (allowed !== undefined) {
      const reason = `must be one of ${allowed.join(', ')}`;
      return new ValidationFailed([{ field, reason }]);
    }
  }
  throw new Error(`${operation.id} documents a 400, but has no parameter that can be its example.`);
}

/** Returns the error code of the schema of an error response, as `errorResponses` makes it. */
export function errorCodeOf({ allOf = [] }: Schema): string | undefined {
  const codes = allOf.map(({ properties }) => properties?.['code']?.const);
  return codes.find((code) => typeof code === 'string');
}

/**
 * Returns all error responses of an operation, by status.
 * @throws Error when the path has parameters and no 404 is documented
 */
export function errorResponses(route: Route, api: Api): Record<string, Response> {
  const challenge = `Bearer realm="api", resource_metadata="${localAddresses.baseUrl}/.well-known/oauth-protected-resource/${api}"`;
  const byStatus = Map.groupBy(errorsOf(route, challenge), ({ example }) => toErrorResponse(example).status);
  if (route.path.includes('{') && !byStatus.has(404)) {
    throw new Error(`${route.operation.id} has a path parameter but documents no 404.`);
  }
  const responses = [...byStatus].map(([status, docs]) => {
    const examples = docs.map(({ example }) => toErrorResponse(example));
    const envelopes = examples.map(({ body }) => body);
    const code = envelopes[0]?.code;
    const [exampleChallenge] = examples.flatMap(({ headers }) => headers['WWW-Authenticate'] ?? []);
    const members = { properties: { statusCode: { const: status }, code: { const: code } } };
    const content = {
      schema: { allOf: [schemaRef('Error'), members] },
      examples: namedExamples(envelopes),
    };
    const response = {
      description: docs.map(({ when }) => when).join('\n\n'),
      headers: errorHeaders(status, code, exampleChallenge, route),
      content: { 'application/json': content },
    };
    return [status, response] as const;
  });
  return Object.fromEntries(responses);
}

function errorHeaders(
  status: number,
  code: ErrorCode | undefined,
  challenge: string | undefined,
  { retryOnlyWithKey = false }: Route,
): Record<string, Header> {
  const { RateLimit, 'RateLimit-Policy': policy, 'Retry-After': retryAfter, ...rest } = standardHeaders;
  const wwwAuthenticate = { ...rest['WWW-Authenticate'], example: challenge };
  const isTransient = code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE';
  return {
    'X-Request-Id': rest['X-Request-Id'],
    ...(status === 401 && { 'WWW-Authenticate': wwwAuthenticate }),
    ...(status === 403 && { 'WWW-Authenticate': makeOptional(wwwAuthenticate) }),
    ...(isTransient && { 'Retry-After': retryOnlyWithKey ? makeOptional(retryAfter) : retryAfter }),
    ...(code === 'CONFLICT' && { 'Retry-After': makeOptional(retryAfter) }),
    // A 401 is sent without them: it has no caller, and counts only for its network.
    ...(status !== 401 && { 'RateLimit-Policy': policy, RateLimit }),
  };
}

/**
 * Names each example by its reason if that is a code, else by its error code. A repeated name ends with the
 * number of the example.
 */
function namedExamples(envelopes: readonly ErrorEnvelope[]): Record<string, Example> {
  const examples = new Map<string, Example>();
  for (const envelope of envelopes) {
    const reason = envelope.details?.[0]?.reason ?? '';
    const isCode = /^[a-z_]+$/.test(reason);
    const name = isCode ? reason : envelope.code.toLowerCase();
    examples.set(examples.has(name) ? `${name}_${examples.size + 1}` : name, {
      summary: envelope.message,
      value: envelope,
    });
  }
  return Object.fromEntries(examples);
}
