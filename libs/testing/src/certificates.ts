import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificates {
  readonly dir: string;
  /** Certificate of the local authority that clients must trust. */
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** File for NODE_EXTRA_CA_CERTS: the local authority and further trusted certificates. */
  readonly trustFile: string;
}

/** Homebrew's folders may be missing in PATH. */
const searchPath = `${process.env['PATH'] ?? ''}:/opt/homebrew/bin:/usr/local/bin`;

function openssl(args: readonly string[]): Promise<unknown> {
  return promisify(execFile)('openssl', args, { env: { ...process.env, PATH: searchPath } });
}

const leafDays = 397; // below the 398 days that browsers accepted from public authorities
const caDays = 3650;
const renewBeforeMs = 30 * 24 * 3600 * 1000;

/** Name constraints limit the authority to this machine, so trusting it is safe (RFC 5280 §4.2.1.10). */
const configuration = `[req]
distinguished_name = subject
prompt = no
[subject]
O = Fulfilment suite
CN = Fulfilment suite, local development
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
nameConstraints = critical, permitted;DNS:localhost, permitted;IP:127.0.0.0/255.0.0.0, permitted;IP:0:0:0:0:0:0:0:1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:0:0:0:0:0:0:0:1
`;

/**
 * Returns the certificates in the state directory, and creates or renews them if necessary. Set-up runs this
 * file before the build, so it imports no code of the project.
 * @param alsoTrusted a file with further trusted certificates, for `trustFile`
 */
export async function certificatesIn(stateDir: string, alsoTrusted?: string): Promise<Certificates> {
  const dir = join(stateDir, 'certificates');
  const certificates = {
    dir,
    caFile: join(dir, 'ca.pem'),
    certificateFile: join(dir, 'localhost.pem'),
    keyFile: join(dir, 'localhost.key'),
    trustFile: join(dir, 'trusted.pem'),
  };
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(configurationFile(dir), configuration);
  if (!isFresh(certificates.caFile)) await makeAuthority(certificates);
  if (!isFresh(certificates.certificateFile)) await makeLeaf(certificates);
  const others =
    alsoTrusted !== undefined && existsSync(alsoTrusted) ? readFileSync(alsoTrusted, 'utf8') : '';
  writeFileSync(certificates.trustFile, readFileSync(certificates.caFile, 'utf8') + others);
  return certificates;
}

/** Whether the certificate exists and is valid for at least 30 days. */
function isFresh(file: string): boolean {
  if (!existsSync(file) || readFileSync(file).length === 0) return false;
  return Date.parse(new X509Certificate(readFileSync(file)).validTo) - Date.now() > renewBeforeMs;
}

async function makeAuthority({ dir, caFile, certificateFile }: Certificates): Promise<void> {
  writeFileSync(certificateFile, ''); // so that it is renewed: the previous authority has signed it
  await newKey(authorityKey(dir));
  const selfSigned = ['req', '-new', '-x509', '-sha256', '-days', String(caDays)];
  const extensions = ['-config', configurationFile(dir), '-extensions', 'authority'];
  await openssl([...selfSigned, ...extensions, '-key', authorityKey(dir), '-out', caFile]);
}

async function makeLeaf({ dir, caFile, certificateFile, keyFile }: Certificates): Promise<void> {
  const config = configurationFile(dir);
  const request = join(dir, 'localhost.csr');
  await newKey(keyFile);
  const subject = ['-config', config, '-subj', '/CN=localhost'];
  await openssl(['req', '-new', '-sha256', ...subject, '-key', keyFile, '-out', request]);
  const signing = ['-CA', caFile, '-CAkey', authorityKey(dir), '-set_serial', `0x${Date.now().toString(16)}`];
  const extensions = ['-extfile', config, '-extensions', 'leaf', '-days', String(leafDays), '-sha256'];
  await openssl(['x509', '-req', '-in', request, ...signing, ...extensions, '-out', certificateFile]);
}

function configurationFile(dir: string): string {
  return join(dir, 'openssl.cnf');
}

function authorityKey(dir: string): string {
  return join(dir, 'ca.key');
}

async function newKey(file: string): Promise<void> {
  writeFileSync(file, '', { mode: 0o600 }); // openssl keeps the mode of an existing file
  await openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file]);
}
