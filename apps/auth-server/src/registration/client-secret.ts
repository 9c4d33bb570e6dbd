import type { SecretBox } from '@fulfilment/runtime';
import type { AdapterPayload } from 'oidc-provider';

/** The `owner` that `SecretBox` binds a sealed client secret to. No other kind of secret has its prefix. */
export function clientSecretOwner(clientId: string): string {
  return `client:${clientId}`;
}

/** Returns a client's metadata as JSON, with the secret sealed. */
export function sealClient(secrets: SecretBox, id: string, metadata: AdapterPayload): string {
  const { client_secret: secret, ...rest } = metadata;
  if (secret === undefined) return JSON.stringify(rest);
  return JSON.stringify({
    ...rest,
    client_secret_sealed: secrets.seal(secret, clientSecretOwner(id)).toString('base64'),
  });
}

/** Opens the value of `client_secret_sealed`. */
export function openClientSecret(secrets: SecretBox, id: string, sealed: string): string {
  return secrets.open(Buffer.from(sealed, 'base64'), clientSecretOwner(id)).toString();
}
