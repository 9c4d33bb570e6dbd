import { createHash } from 'node:crypto';
import { displayableName } from './client-registration.rules.js';

/** The part of a client that the consent page shows. A consent is for this identity, not for a client id. */
interface ClientIdentity {
  readonly name: string | null;
  /** Hosts of the redirect URIs, or schemes of native apps; sorted, without duplicates. */
  readonly redirect_hosts: readonly string[];
  readonly application_type: string;
}

/** The client metadata that form its identity. */
export interface IdentifiedClient {
  readonly client_name?: string | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  readonly application_type?: string | undefined;
}

/** Returns the identity of a client, without invisible characters, which earlier versions stored in names. */
export function identityOf(client: IdentifiedClient): ClientIdentity {
  return {
    name: client.client_name === undefined ? null : displayableName(client.client_name),
    redirect_hosts: [...new Set((client.redirect_uris ?? []).map(redirectHost))].sort(),
    application_type: client.application_type ?? 'web',
  };
}

/** Returns a digest that is equal exactly for equal identities. */
export function identityDigest({ name, redirect_hosts, application_type }: ClientIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([name, redirect_hosts, application_type]))
    .digest('base64url');
}

/** The host, with its port for https. A native app on a loopback address may use any port (RFC 8252 §7.3). */
function redirectHost(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol === 'https:') return host;
  return protocol === 'http:' ? hostname : protocol;
}
