/** Whether a browser app may call for this client: its origin is that of one of the client's redirect addresses. */
export function isOriginOfClient(origin: string, redirectUris: readonly string[]): boolean {
  return redirectUris.some((uri) => {
    const parsed = URL.parse(uri);
    return parsed !== null && parsed.origin !== 'null' && parsed.origin === origin;
  });
}
