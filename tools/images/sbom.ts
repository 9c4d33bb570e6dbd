import { type LockedPackage, readLockFile, requiredPackages } from '../dev/bundle/lock-file.ts';

/** The platform of an image, in the words by which npm restricts a package to platforms. */
interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc: string;
}

/** The SPDX identifiers of the licences of our packages. Other texts, such as `UNLICENSED`, are names. */
const spdxIds = new Set(['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-3-Clause', 'ISC', 'MIT']);

/**
 * Returns the software bill of materials (SBOM) of an image: CycloneDX 1.6 in JSON, with every package that
 * the app has at run time. `npm sbom --workspace` is not used, because it omits most of these packages. The
 * same commit gives the same SBOM on every machine, because only the lock file is read.
 */
export function sbom(app: string, platform: Platform, lock = readLockFile()) {
  const { packages, projects } = requiredPackages(lock, `apps/${app}`);
  const components = [...projects, ...packages]
    .map((path) => ({ path, locked: lock.packages[path] ?? {} }))
    .filter(({ locked }) => runsOn(platform, locked))
    .map(({ path, locked }) => component(path, locked));
  const appReference = `@fulfilment/${app}@`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        ...components.find((component) => component['bom-ref'].startsWith(appReference)),
        type: 'application',
      },
    },
    components: components.filter((component) => !component['bom-ref'].startsWith(appReference)),
  };
}

/** Whether npm installs a package on a platform. */
function runsOn(platform: Platform, { os, cpu, libc }: LockedPackage): boolean {
  const allows = (values: LockedPackage['os'], value: string): boolean =>
    values === undefined || [values].flat().includes(value);
  return allows(os, platform.os) && allows(cpu, platform.cpu) && allows(libc, platform.libc);
}

function component(path: string, { name: ownName, version = '', license, integrity = '' }: LockedPackage) {
  const name = ownName ?? path.replace(/^.*node_modules\//, '');
  return {
    type: 'library',
    'bom-ref': `${name}@${version}#${path}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: license === undefined ? [] : [licenceChoice(license)],
    hashes: integrity.split(' ').flatMap(hashOf),
  };
}

/** Returns a licence as an SPDX expression, an SPDX identifier, or else a name. */
function licenceChoice(license: string) {
  if (/ (OR|AND|WITH) /.test(license)) return { expression: license };
  return { license: spdxIds.has(license) ? { id: license } : { name: license } };
}

/** Converts a hash of the lock file (Subresource Integrity) to hexadecimal. */
function hashOf(integrity: string) {
  const [, base64] = /^sha512-(.*)$/.exec(integrity) ?? [];
  if (base64 === undefined) return [];
  return [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }];
}
