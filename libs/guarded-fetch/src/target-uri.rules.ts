const percentEncoded = '%[0-9A-Fa-f]{2}';
const inName = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${percentEncoded})`;
const inPath = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|${percentEncoded})`;
/** RFC 3986, of http and https, without user information and fragment. */
const uri = new RegExp(
  `^https?://(?:\\[[0-9A-Fa-f:.]+\\]|${inName}+)(?::[0-9]*)?(?:/${inPath}*)?(?:\\?(?:${inPath}|\\?)*)?$`,
  'i',
);

/**
 * A target URL as RFC 3986 writes it, which is what `format: uri` promises: as it is when it is one, else as WHATWG normalises it
 * (`https://münchen.example/ä` is `https://xn--mnchen-3ya.example/%C3%A4`). Undefined when that is none either.
 */
export function targetUri(url: string): string | undefined {
  if (uri.test(url)) return url;
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  return uri.test(href) ? href : undefined;
}
