/**
 * Whether a browser app may call as this client: its origin must be that of one of the client's redirect
 * URIs.
 */
export function isOriginOfClient(origin: string, redirectUris: readonly string[]): boolean {
  return redirectUris.some((uri) => {
    const parsed = URL.parse(uri);
    return parsed !== null && parsed.origin !== 'null' && parsed.origin === origin;
  });
}
