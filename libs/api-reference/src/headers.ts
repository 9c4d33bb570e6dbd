import type { Header, Parameter } from './document.js';
import type { ResponseHeader } from './operation.js';

/** Public addresses of a suite. */
export interface Addresses {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** Addresses of a local suite, which the committed documents contain. */
export const localAddresses: Addresses = {
  baseUrl: 'https://localhost:8443',
  authUrl: 'https://localhost:8443',
};

const quotaNamePattern = '"[a-z-]+"';

/** Headers that depend on the kind of response, not on the operation. */
export const standardHeaders = {
  'X-Request-Id': {
    description:
      'Identifies the request in our logs: the id that you sent if it is well formed, otherwise a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.:/+=-]{1,128}$' },
    example: '9f1c6c1e-5f0e-4c52-8f0f-0d7f3c1f3f5e',
  },
  'RateLimit-Policy': {
    description:
      'The quota that this request counted against: `q` requests per `w` seconds. Absent if the request was not counted.',
    schema: { type: 'string', pattern: `^${quotaNamePattern};q=\\d+;w=\\d+$` },
    example: '"default";q=6000;w=60',
  },
  RateLimit: {
    description: 'The remaining quota: `r` requests now; the full quota is available in `t` seconds.',
    schema: { type: 'string', pattern: `^${quotaNamePattern};r=\\d+;t=\\d+$` },
    example: '"default";r=5999;t=1',
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^[1-9]\d*$` },
    example: '1',
  },
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750 §3, RFC 9449 §7.1), in the scheme of the request. `resource_metadata` is the URL of the metadata of RFC 9728.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|DPoP) ' },
  },
  'Cache-Control': {
    description: 'Whether and for how long the response may be cached.',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
} as const satisfies Readonly<Record<string, Header>>;

/** Response headers that an operation declares. */
export const responseHeaders: Readonly<Record<ResponseHeader, Header>> = {
  Location: {
    description: 'URL of the created resource.',
    required: true,
    schema: { type: 'string', format: 'uri' },
    example: 'https://localhost:8443/store/v1/orders/ord_01m7xwmx1ceqrv87vt909ma64h',
  },
  'Idempotent-Replayed': {
    description: 'Present if the response is that of an earlier request with the same `idempotency-key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Repr-Digest': {
    description: 'SHA-256 of the body (RFC 9530), in Base64.',
    required: true,
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
    example: 'sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:',
  },
  ETag: {
    description:
      'Version identifier of the representation. Send it as `If-None-Match` to receive a body only if the representation has changed.',
    required: true,
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: '"2jmj7l5rSw0yVb-vlWAYkK-YBwk"',
  },
};

/** The request header of operations whose response has an ETag. */
export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The `ETag` of an earlier response. If the representation has not changed, the response is 304 without a body.',
  schema: { type: 'string' },
  example: '"2jmj7l5rSw0yVb-vlWAYkK-YBwk"',
};

/** Returns the documentation of a header as one that is not always present. */
export function makeOptional({ required: _, ...header }: Header): Header {
  return header;
}
