import { dpopSigningAlgorithms } from '@fulfilment/contracts';

/** An access token from the `Authorization` header. */
export interface Credentials {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly token: string;
}

const bearerOrDpop = /^(Bearer|DPoP) +([\w.~+/-]+=*)$/i;

/**
 * Reads an `Authorization` header (RFC 6750 §2.1, RFC 9449 §7.1). Scheme names are case-insensitive (RFC 9110
 * §11.1). Returns undefined if there is no header, or one of another form.
 */
export function credentialsOf(header: string | undefined): Credentials | undefined {
  const [, scheme, token] = bearerOrDpop.exec(header ?? '') ?? [];
  if (scheme === undefined || token === undefined) return undefined;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

/** Returns the value of `WWW-Authenticate`, in the scheme of the request (RFC 6750 §3, RFC 9449 §7.1). */
export function challengeOf(
  scheme: Credentials['scheme'],
  members: Readonly<Record<string, string>>,
): string {
  const algorithms = scheme === 'DPoP' ? { algs: dpopSigningAlgorithms.join(' ') } : {};
  const parameters = { realm: 'api', ...members, ...algorithms };
  return `${scheme} ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}
