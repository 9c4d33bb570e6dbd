/**
 * A path whose percent-encoding is no UTF-8 (`%ff`) is taken as the characters it is written with. So it meets the same checks in the same
 * order as any other path, and is an id that does not exist, instead of an error before anybody asked who is calling.
 */
export function decodablePath(url: string): string {
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
