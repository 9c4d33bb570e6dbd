import type { Header, Parameter } from './document.js';
import type { ResponseHeader } from './operation.js';

const rateLimitItem = String.raw`"[a-z-]+"`;

/** Headers that depend on the kind of response, not on the operation. */
export const standardHeaders = {
  'X-Request-Id': {
    description: 'Names this request in our logs: the one you sent if it was well formed, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.:/+=-]{1,128}$' },
    example: '9f1c6c1e-5f0e-4c52-8f0f-0d7f3c1f3f5e',
  },
  'RateLimit-Policy': {
    description:
      'The quota this request counted against: `q` requests in `w` seconds. Absent where requests are not counted.',
    schema: { type: 'string', pattern: `^${rateLimitItem};q=\\d+;w=\\d+$` },
    example: '"default";q=6000;w=60',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests now, all of it again in `t` seconds.',
    schema: { type: 'string', pattern: `^${rateLimitItem};r=\\d+;t=\\d+$` },
    example: '"default";r=5999;t=1',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^[1-9]\d*$` },
    example: '1',
  },
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750 §3, RFC 9449 §7.1), in the scheme of the request; `resource_metadata` is where RFC 9728 metadata lies.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|DPoP) ' },
  },
  'Cache-Control': {
    description: 'Whether and how long the answer may be kept.',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
} as const satisfies Readonly<Record<string, Header>>;

/** Response headers that an operation declares. */
export const responseHeaders: Readonly<Record<ResponseHeader, Header>> = {
  Location: {
    description: 'Where what was made can be read.',
    required: true,
    schema: { type: 'string', format: 'uri' },
    example: 'https://localhost:8443/store/v1/orders/ord_01m7xwmx1ceqrv87vt909ma64h',
  },
  'Idempotent-Replayed': {
    description: 'Present when this is the answer an earlier request with the same `idempotency-key` got.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  ETag: {
    description:
      'Names this form of what was read; send it as `If-None-Match` to be told only whether it changed.',
    required: true,
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: '"2jmj7l5rSw0yVb-vlWAYkK-YBwk"',
  },
};

/** Conditional request header. */
export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An `ETag` of an earlier answer. Still the same: 304 without a body.',
  schema: { type: 'string' },
  example: '"2jmj7l5rSw0yVb-vlWAYkK-YBwk"',
};

/** A header that is not always present. */
export function optional({ required: _, ...header }: Header): Header {
  return header;
}
