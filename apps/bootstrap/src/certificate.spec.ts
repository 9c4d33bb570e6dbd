import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate } from './certificate.ts';

const now = new Date();
/** The OID of `id-kp-serverAuth`, an extended key usage (RFC 5280 §4.2.1.12). Node calls these `keyUsage`. */
const serverAuthentication = '1.3.6.1.5.5.7.3.1';

describe('selfSignedCertificate', () => {
  it.each(['localhost', 'suite.example.org'])(
    'is self-signed, for TLS servers, and valid for the host %s but for no other host',
    (host) => {
      const certificate = new X509Certificate(selfSignedCertificate(host, now).certificate);
      expect(certificate.checkHost(host)).toBe(host);
      expect(certificate.checkHost('other.example.org')).toBeUndefined();
      expect(certificate.keyUsage).toEqual([serverAuthentication]);
      expect(certificate.verify(certificate.publicKey)).toBe(true);
    },
  );

  it.each(['192.0.2.7', '::1', '::', '2001:db8::', '2001:db8::192.0.2.7', '2001:db8:1:2:3:4:5:fffe'])(
    'is valid for the IP address %s but for no other address',
    (address) => {
      const { hostname } = new URL(`https://${address.includes(':') ? `[${address}]` : address}`);
      const certificate = new X509Certificate(selfSignedCertificate(hostname, now).certificate);
      expect(certificate.checkIP(address)).toBe(address);
      expect(certificate.checkIP('2001:db8::9')).toBeUndefined();
    },
  );

  it('is valid from an hour before its creation until 365 days after it', () => {
    const certificate = new X509Certificate(selfSignedCertificate('localhost', now).certificate);
    const seconds = (text: string): number => Math.floor(Date.parse(text) / 1000);
    const nowSeconds = Math.floor(now.getTime() / 1000);
    expect(seconds(certificate.validFrom)).toBe(nowSeconds - 3_600);
    expect(seconds(certificate.validTo)).toBe(nowSeconds + 365 * 86_400);
  });

  it('has its validity as UTCTime, as RFC 5280 §4.1.2.5 requires before 2050', () => {
    const date = new Date('2026-03-01T12:34:56Z');
    const { raw } = new X509Certificate(selfSignedCertificate('localhost', date).certificate);
    // The tag of UTCTime is 0x17. Each time has 13 (0x0d) characters: YYMMDDHHMMSSZ.
    expect(raw.toString('latin1')).toContain('\x17\x0d260301113456Z\x17\x0d270301123456Z');
  });

  /** Makes several lengths 127, the largest that fits into one byte. */
  const hostOf116Characters = `${'long-'.repeat(20)}host.example.org`;
  it.each(['a.example', 'localhost', hostOf116Characters])(
    'encodes each length in the shortest form for the host %s, as DER requires (X.690 §10.1)',
    (host) => {
      const { raw } = new X509Certificate(selfSignedCertificate(host, now).certificate);
      const longLengths = longLengthsOf(raw);
      expect(longLengths.length).toBeGreaterThan(0);
      for (const { extraBytes, length } of longLengths) {
        const maxOfShorterForm = extraBytes === 1 ? 127 : 255;
        expect(length).toBeGreaterThan(maxOfShorterForm);
      }
    },
  );

  it('is accepted by a TLS client that trusts it', async () => {
    const { certificate: cert, key } = selfSignedCertificate('localhost', now);
    const server = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const client = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert });
    await once(client, 'secureConnect');
    expect(client.authorized).toBe(true);
    client.destroy();
    server.close();
  });
});

/** Returns the lengths of more than one byte in DER: how many bytes follow the first one, and the value. */
function longLengthsOf(der: Buffer): { extraBytes: number; length: number }[] {
  const found: { extraBytes: number; length: number }[] = [];
  for (let offset = 0; offset < der.length;) {
    const tag = der.readUInt8(offset);
    const first = der.readUInt8(offset + 1);
    const extraBytes = first < 0x80 ? 0 : first - 0x80;
    const length = extraBytes === 0 ? first : der.readUIntBE(offset + 2, extraBytes);
    const start = offset + 2 + extraBytes;
    if (extraBytes > 0) found.push({ extraBytes, length });
    const isConstructed = (tag & 0x20) !== 0;
    if (isConstructed) found.push(...longLengthsOf(der.subarray(start, start + length)));
    offset = start + length;
  }
  return found;
}
