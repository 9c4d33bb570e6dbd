import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate } from './certificate.ts';

const now = new Date();
/** RFC 5280 §4.2.1.12. */
const serverAuthentication = '1.3.6.1.5.5.7.3.1';

describe('selfSignedCertificate', () => {
  it.each(['localhost', 'suite.example.org'])(
    'is signed by itself, and valid for servers and the host %s, not for another host',
    (host) => {
      const certificate = new X509Certificate(selfSignedCertificate(host, now).certificate);
      expect(certificate.checkHost(host)).toBe(host);
      expect(certificate.checkHost('other.example.org')).toBeUndefined();
      expect(certificate.keyUsage).toEqual([serverAuthentication]);
      expect(certificate.verify(certificate.publicKey)).toBe(true);
    },
  );

  it('is valid for an IPv4 address', () => {
    const { certificate } = selfSignedCertificate('192.0.2.7', now);
    expect(new X509Certificate(certificate).checkIP('192.0.2.7')).toBe('192.0.2.7');
  });

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

  const hostOf116Characters = `${'long-'.repeat(20)}host.example.org`;
  it.each(['a.example', 'localhost', hostOf116Characters])(
    'has every length for the host %s in its shortest form, as DER requires (X.690 §10.1)',
    (host) => {
      const { raw } = new X509Certificate(selfSignedCertificate(host, now).certificate);
      expect(longFormsOf(raw).length).toBeGreaterThan(0);
      for (const { bytes, length } of longFormsOf(raw))
        expect(length).toBeGreaterThan(bytes === 1 ? 127 : 255);
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

/** The lengths of more than one byte in DER: the number of bytes after the first, and the value. */
function longFormsOf(der: Buffer): { bytes: number; length: number }[] {
  const found: { bytes: number; length: number }[] = [];
  for (let offset = 0; offset < der.length;) {
    const tag = der.readUInt8(offset);
    const first = der.readUInt8(offset + 1);
    const bytes = first < 0x80 ? 0 : first - 0x80;
    const length = bytes === 0 ? first : der.readUIntBE(offset + 2, bytes);
    const start = offset + 2 + bytes;
    if (bytes > 0) found.push({ bytes, length });
    const isConstructed = (tag & 0x20) !== 0;
    if (isConstructed) found.push(...longFormsOf(der.subarray(start, start + length)));
    offset = start + length;
  }
  return found;
}
