/** The headers of `node:http` and Express, or a `Headers` of fetch. */
export type RequestHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * Finds a header, ignoring case; undefined if missing. Repeated headers are joined with a comma (RFC 9110
 * §5.3).
 * @param name in lower case
 */
export function headerOf(headers: RequestHeaders, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
  return values.length === 0 ? undefined : values.join(', ');
}

function isFetchHeaders(headers: RequestHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}
