import { createHash } from 'node:crypto';

/** What people see of a client when they allow it. A consent is for this, not for an id. */
export interface ClientIdentity {
  readonly name: string | null;
  /** The hosts that codes are sent to, or the scheme of an app on a device; sorted, each once. */
  readonly redirect_hosts: readonly string[];
  readonly application_type: string;
}

/** The members of client metadata that make its identity. */
export interface IdentifiedClient {
  readonly client_name?: string | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  readonly application_type?: string | undefined;
}

export function identityOf(client: IdentifiedClient): ClientIdentity {
  return {
    name: client.client_name ?? null,
    redirect_hosts: [...new Set((client.redirect_uris ?? []).map(redirectHost))].sort(),
    application_type: client.application_type ?? 'web',
  };
}

/** Equal for two identities exactly when they are the same. */
export function identityDigest({ name, redirect_hosts, application_type }: ClientIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([name, redirect_hosts, application_type]))
    .digest('base64url');
}

/** The port counts where it is part of the address; a native app on this computer takes any (RFC 8252 §7.3). */
function redirectHost(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol === 'https:') return host;
  return protocol === 'http:' ? hostname : protocol;
}
