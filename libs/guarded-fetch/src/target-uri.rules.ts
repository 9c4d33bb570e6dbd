const percentEncoded = '%[0-9A-Fa-f]{2}';
const hostCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${percentEncoded})`;
const pathCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|${percentEncoded})`;
/** An http or https URI (RFC 3986) without user information and fragment. */
const uri = new RegExp(
  `^https?://(?:\\[[0-9A-Fa-f:.]+\\]|${hostCharacter}+)(?::[0-9]*)?(?:/${pathCharacter}*)?(?:\\?(?:${pathCharacter}|\\?)*)?$`,
  'i',
);

/**
 * Returns a target URL as an RFC 3986 URI, which `format: uri` promises: unchanged if it is one, else as
 * WHATWG normalises it (`https://münchen.example/ä` becomes `https://xn--mnchen-3ya.example/%C3%A4`). Returns
 * undefined if the normalised form is not a URI either.
 */
export function targetUri(url: string): string | undefined {
  if (uri.test(url)) return url;
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  return uri.test(href) ? href : undefined;
}
