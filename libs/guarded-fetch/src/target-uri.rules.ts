const percentEncoded = '%[0-9A-Fa-f]{2}';
const hostCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${percentEncoded})`;
const pathCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|${percentEncoded})`;
/** An http or https URI (RFC 3986) without user information and fragment. */
const uriPattern = new RegExp(
  `^https?://(?:\\[[0-9A-Fa-f:.]+\\]|${hostCharacter}+)(?::[0-9]*)?(?:/${pathCharacter}*)?(?:\\?(?:${pathCharacter}|\\?)*)?$`,
  'i',
);

/**
 * Returns a target URL as a URI of RFC 3986, which responses promise by `format: uri`: unchanged if it is
 * one, else as WHATWG normalises it (`https://münchen.example/ä` becomes
 * `https://xn--mnchen-3ya.example/%C3%A4`). Returns undefined if even the normalised form is no such URI.
 */
export function targetUri(url: string): string | undefined {
  if (uriPattern.test(url)) return url;
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  return uriPattern.test(href) ? href : undefined;
}
