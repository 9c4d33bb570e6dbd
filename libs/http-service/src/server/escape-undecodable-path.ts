/**
 * Escapes the percent signs of a path whose encoding is malformed or not UTF-8 (`%zz`, `%ff`). So it passes
 * the same checks as any other path and becomes an unknown id, not an error before authentication.
 */
export function escapeUndecodablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '/', ...query] = url.split('?');
  return isDecodable(path) ? url : [path.replaceAll('%', '%25'), ...query].join('?');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
