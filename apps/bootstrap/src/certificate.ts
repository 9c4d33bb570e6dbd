import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * A self-signed certificate for a first look, since the image has no openssl. Written in DER (X.690), profile
 * of RFC 5280: ECDSA with P-256 and SHA-256, valid for one year. A deployment mounts its own certificate.
 */
export function selfSignedCertificate(
  host: string,
  now: Date,
): { readonly certificate: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]));
  const name = sequence(element(0x31, sequence(objectId([2, 5, 4, 3]), element(0x0c, Buffer.from(host)))));
  const end = new Date(now.getTime() + 365 * 86_400_000);
  const start = new Date(now.getTime() - 3_600_000); // clocks of clients may be late
  const extensions = sequence(
    extension([2, 5, 29, 17], sequence(alternativeName(host))),
    extension([2, 5, 29, 37], sequence(objectId([1, 3, 6, 1, 5, 5, 7, 3, 1]))), // serverAuth
  );
  const toBeSigned = sequence(
    element(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(start), time(end)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, extensions),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const der = sequence(
    toBeSigned,
    ecdsaWithSha256,
    element(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(length);
  return Buffer.concat([Buffer.from([tag, 0x82]), size, content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return element(0x30, ...contents);
}

function integer(bigEndian: Buffer): Buffer {
  return element(0x02, bigEndian);
}

function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return element(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function time(date: Date): Buffer {
  const text = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return element(0x18, Buffer.from(text)); // GeneralizedTime, YYYYMMDDHHMMSSZ
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(objectId(id), element(0x04, value));
}

function alternativeName(host: string): Buffer {
  const isIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
  return isIpv4 ? element(0x87, Buffer.from(host.split('.').map(Number))) : element(0x82, Buffer.from(host));
}
