/** Whether a browser app at this origin may act as the client: the origin must be that of a redirect URI. */
export function isOriginOfClient(origin: string, redirectUris: readonly string[]): boolean {
  return redirectUris.some((uri) => {
    const parsed = URL.parse(uri);
    return parsed !== null && parsed.origin !== 'null' && parsed.origin === origin;
  });
}
