import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate } from './certificate.ts';

const now = new Date();

describe('selfSignedCertificate', () => {
  it.each(['localhost', 'suite.example.org'])('is for the host %s only, and for servers', (host) => {
    const certificate = new X509Certificate(selfSignedCertificate(host, now).certificate);
    expect(certificate.checkHost(host)).toBe(host);
    expect(certificate.checkHost('other.example.org')).toBeUndefined();
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it('is for an IPv4 address', () => {
    const { certificate } = selfSignedCertificate('192.0.2.7', now);
    expect(new X509Certificate(certificate).checkIP('192.0.2.7')).toBe('192.0.2.7');
  });

  it('is valid from an hour ago for a year', () => {
    const certificate = new X509Certificate(selfSignedCertificate('localhost', now).certificate);
    const seconds = (text: string): number => Math.floor(Date.parse(text) / 1000);
    const nowSeconds = Math.floor(now.getTime() / 1000);
    expect(seconds(certificate.validFrom)).toBe(nowSeconds - 3_600);
    expect(seconds(certificate.validTo)).toBe(nowSeconds + 365 * 86_400);
  });

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
