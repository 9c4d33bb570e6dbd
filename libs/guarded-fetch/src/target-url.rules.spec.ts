import fc from 'fast-check';
import { addressRule } from './address.rules.js';
import { hostAndPort, toUri, targetUrlProblem } from './target-url.rules.js';

function policy({ allowLoopback }: { readonly allowLoopback: boolean }) {
  return {
    allowLoopback,
    isAllowedAddress: addressRule({ allowLoopback, blockedNetworks: [] }),
    ownHosts: new Set(['suite.example:443']),
  };
}
const production = policy({ allowLoopback: false });
const development = policy({ allowLoopback: true });

describe('the check of target URLs', () => {
  it.each([
    'https://hooks.example.com/orders?key=1',
    'HTTPS://Hooks.Example.com',
    'https://hooks.example.com:8443/',
    'https://hooks.example.com:1024/',
    'https://hooks.example.com:9999/',
    'https://münchen.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    `https://${'a'.repeat(63)}.example.com/@home`,
    `https://${'a.'.repeat(121)}example.com./?by=@me`, // 253 characters without the final dot, the maximum
    'https://hooks.example.com./',
    `https://hooks.example.com/${'a'.repeat(2022)}`, // 2048 characters, the maximum
  ])('accepts %s', (url) => {
    expect(targetUrlProblem(url, production)).toBeUndefined();
  });

  it.each([
    ['http://hooks.example.com/', 'must be an https URL'],
    ['ftp://hooks.example.com/', 'must be an absolute https URL'],
    ['//hooks.example.com/', 'must be an absolute https URL'],
    ['https:hooks.example.com', 'must be an absolute https URL'],
    ['https://', 'must be an absolute https URL'],
    ['', 'must be an absolute https URL'],
    ['javascript:alert(1)', 'must be an absolute https URL'],
    [' https://hooks.example.com/', 'must not contain spaces, control characters or backslashes'],
    ['https://hooks.example.com/\n', 'must not contain spaces, control characters or backslashes'],
    ['https:\\\\hooks.example.com', 'must not contain spaces, control characters or backslashes'],
    ['https://me:secret@hooks.example.com/', 'must not contain credentials'],
    ['HTTPS://me@hooks.example.com/', 'must not contain credentials'],
    ['https://@hooks.example.com/', 'must not contain credentials'],
    ['https://:@hooks.example.com/', 'must not contain credentials'],
    ['https:///@hooks.example.com/', 'must not contain credentials'],
    ['https://hooks.example.com/\u202egnp.exe', 'must not contain spaces, control characters or backslashes'],
    ['https://hooks.example.com/\u2066x\u2069', 'must not contain spaces, control characters or backslashes'],
    [`https://${'a'.repeat(64)}.example.com/`, 'must have a valid host name'],
    [`https://${'ü'.repeat(60)}.example.com/`, 'must have a valid host name'], // over 63 in Punycode
    [`https://${'a.'.repeat(121)}examples.com/`, 'must have a valid host name'],
    ['https://hooks..example.com/', 'must have a valid host name'],
    ['https://hooks.example.com/#top', 'must not have a fragment'],
    ['https://hooks.example.com/#', 'must not have a fragment'],
    ['https://suite.example/store/v1/webhooks', 'must not be an address of this service'],
    ['https://SUITE.example.:443/', 'must not be an address of this service'],
    ['https://hooks.example.com:80/', 'must not use port 80'],
    ['https://hooks.example.com:22/', 'must not use port 22'],
    ['https://hooks.example.com:1023/', 'must not use port 1023'],
    ['https://hooks.example.com/a|b', 'must be a URI (RFC 3986); percent-encode all other characters'],
    ['https://hooks.example.com/?a[]=%', 'must be a URI (RFC 3986); percent-encode all other characters'],
    [`https://hooks.example.com/${'a'.repeat(2023)}`, 'must be at most 2048 characters'],
  ])('rejects %j: %s', (url, reason) => {
    expect(targetUrlProblem(url, production)).toBe(reason);
  });

  const infrastructurePorts =
    '2375 2376 2379 2380 3306 4369 5432 5671 5672 6379 6443 8500 9042 9092 9200 9300 10250 11211 15672 25672 27017';

  it.each(infrastructurePorts.split(' '))('rejects the port %s of an infrastructure service', (port) => {
    expect(targetUrlProblem(`https://hooks.example.com:${port}/`, production)).toBe(
      `must not use port ${port}`,
    );
  });

  const spellingsOfPrivateHosts =
    '127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 017700000001 0177.0.0.1 127.0.0.1. ①②⑦.⓪.⓪.① ' +
    '127。0。0。1 %31%32%37.0.0.1 0 0.0.0.0 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] ' +
    '[::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] 169.254.169.254 2852039166 ' +
    '0xa9fea9fe 0251.0376.0251.0376 [::ffff:a9fe:a9fe] [fd00:ec2::254] 10.0.0.1 10.1 192.168.0.1 ' +
    '172.16.0.1 100.64.0.1 168.63.129.16 [fe80::1] [fc00::1] localhost LOCALHOST localhost. ' +
    'a.localhost printer.local metadata.google.internal intranet db router.lan nas.home.arpa ' +
    'db.intranet service.onion';

  it.each(spellingsOfPrivateHosts.split(' '))('rejects https://%s/', (host) => {
    expect(targetUrlProblem(`https://${host}/`, production)).toMatch(/private or reserved|public host name/);
  });

  it.each([
    'localhost',
    'LOCALHOST.',
    '127.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'suite.localhost',
  ])('rejects the port of a suite on this machine, also with the host %s', (host) => {
    const own = { ...development, ownHosts: new Set([hostAndPort(new URL('https://localhost:8443'))]) };
    expect(targetUrlProblem(`https://${host}:8443/`, own)).toBe('must not be an address of this service');
    expect(targetUrlProblem(`https://${host}:8444/`, own)).toBeUndefined();
  });

  it.each([
    ['http://[::1]/', 'localhost:80'],
    ['https://Suite.example./', 'suite.example:443'],
    ['https://suite.example:8443/', 'suite.example:8443'],
  ])('compares %s with the addresses of this service as %s', (url, expected) => {
    expect(hostAndPort(new URL(url))).toBe(expected);
  });

  it('recognises each loopback address in decimal, hexadecimal and octal form', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, (b, c, d) => {
        const number = 127 * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
        const hex = [127, b, c, d].map((part) => `0x${part.toString(16)}`).join('.');
        const octal = [127, b, c, d].map((part) => `0${part.toString(8)}`).join('.');
        for (const host of [`127.${b}.${c}.${d}`, String(number), `0x${number.toString(16)}`, hex, octal]) {
          expect(targetUrlProblem(`https://${host}/`, production)).toBe(
            'must not be a private or reserved address',
          );
          expect(targetUrlProblem(`https://${host}/`, development)).toBeUndefined();
        }
      }),
    );
  });

  it.each([
    'http://127.0.0.1:41234/hook',
    'http://localhost:3000/',
    'https://localhost:5432/',
    'http://[::1]:8080/',
    'http://0x7f.1/',
    'http://app.localhost/',
  ])('accepts %s in development', (url) => {
    expect(targetUrlProblem(url, development)).toBeUndefined();
  });

  it.each([
    'http://10.0.0.1/',
    'http://hooks.example.com/',
    'https://169.254.169.254/',
    'http://127.0.0.1.example.com/',
    'http://[::ffff:7f:1]/', // 0.127.0.1
  ])('rejects %s in development too', (url) => {
    expect(targetUrlProblem(url, development)).toMatch(/^must be an https URL|private or reserved/);
  });
});

describe('the URI of a target URL', () => {
  it.each([
    'https://hooks.example.com',
    'HTTPS://Hooks.Example.com/%c3%a4?a=%20b&c=/?@:;',
    "https://[2606:4700::1111]:8443/a;b=c/(d)!$&'*+,",
  ])('is unchanged for %s', (url) => {
    expect(toUri(url)).toBe(url);
  });

  it.each([
    ['https://münchen.example/ä?ö=ü', 'https://xn--mnchen-3ya.example/%C3%A4?%C3%B6=%C3%BC'],
    ['https://hooks.example.com/{order}', 'https://hooks.example.com/%7Border%7D'],
    ['https:///hooks.example.com/a', 'https://hooks.example.com/a'],
  ])('for %s is %s', (url, expected) => {
    expect(toUri(url)).toBe(expected);
  });

  it('is not changed by another conversion, and parses to the same URL as the text (WHATWG)', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true }),
        fc.string({ unit: 'grapheme' }),
        (url, suffix) => {
          const text = url + suffix;
          const uri = toUri(text);
          if (uri === undefined) return;
          expect(toUri(uri)).toBe(uri);
          if (URL.canParse(text)) expect(new URL(uri).href).toBe(new URL(text).href);
        },
      ),
    );
  });
});
