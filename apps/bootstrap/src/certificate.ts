import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const hourMs = 3_600_000;
const validityHours = 365 * 24;

const oids = {
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  commonName: [2, 5, 4, 3],
  subjectAltName: [2, 5, 29, 17],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuthentication: [1, 3, 6, 1, 5, 5, 7, 3, 1],
} as const;

/** Tags of DER (X.690 §8.1.2). Those from 0x80 on are context-specific: RFC 5280 defines their meaning. */
const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  ipAddress: 0x87,
  version: 0xa0,
  extensions: 0xa3,
} as const;

/**
 * Returns a self-signed certificate for trials and its private key, both as PEM. The image of bootstrap has
 * no openssl, so the certificate is encoded here: DER (X.690) with the profile of RFC 5280, ECDSA with P-256
 * and SHA-256, valid until 365 days after `now`. A deployment mounts its own certificate.
 * @param host a host as `URL.hostname` has it: an IPv6 address is in brackets
 */
export function selfSignedCertificate(
  host: string,
  now: Date,
): { readonly certificate: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(objectId(oids.ecdsaWithSha256));
  const name = sequence(
    element(tags.set, sequence(objectId(oids.commonName), element(tags.utf8String, Buffer.from(host)))),
  );
  const validFrom = new Date(now.getTime() - hourMs); // clocks of clients may be slow
  const validTo = new Date(now.getTime() + validityHours * hourMs);
  const extensions = sequence(
    extension(oids.subjectAltName, sequence(alternativeName(host))),
    extension(oids.extendedKeyUsage, sequence(objectId(oids.serverAuthentication))),
  );
  const toBeSigned = sequence(
    element(tags.version, integer(Buffer.from([2]))), // 2 stands for version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])), // serial number: the first byte makes it positive
    ecdsaWithSha256,
    name,
    sequence(utcTime(validFrom), utcTime(validTo)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(tags.extensions, extensions),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const der = sequence(
    toBeSigned,
    ecdsaWithSha256,
    element(tags.bitString, Buffer.concat([Buffer.from([0]), signature])), // 0 unused bits
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

/** Encodes a length below 65536 in the shortest form (X.690 §10.1). */
function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return element(tags.sequence, ...contents);
}

function integer(bigEndian: Buffer): Buffer {
  return element(tags.integer, bigEndian);
}

/** Encodes the first two parts in one byte, and each further part in groups of 7 bits (X.690 §8.19). */
function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return element(tags.objectId, Buffer.from([first * 40 + second, ...bytes]));
}

/** Encodes a date before the year 2050 (RFC 5280 §4.1.2.5). */
function utcTime(date: Date): Buffer {
  const text = date.toISOString().replaceAll(/[-:T]|\.\d+/g, ''); // YYYYMMDDHHMMSSZ
  return element(tags.utcTime, Buffer.from(text.slice(2)));
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(objectId(id), element(tags.octetString, value));
}

function alternativeName(host: string): Buffer {
  const isIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
  if (isIpv4) return element(tags.ipAddress, Buffer.from(host.split('.').map(Number)));
  if (host.startsWith('[')) return element(tags.ipAddress, ipv6Bytes(host.slice(1, -1)));
  return element(tags.dnsName, Buffer.from(host));
}

/** @param address hexadecimal groups, of which `::` may replace those that are 0 */
function ipv6Bytes(address: string): Buffer {
  const [before = [], after = []] = address
    .split('::')
    .map((groups) =>
      groups.split(':').flatMap((group) => (group === '' ? [] : [Number.parseInt(group, 16)])),
    );
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}
