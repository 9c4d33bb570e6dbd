import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readLockFile, requiredPackages } from '../dev/bundle/lock-file.ts';
import { root } from '../dev/settings.ts';

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
});

/**
 * The software bill of materials of an app: CycloneDX 1.6 in JSON, with every package that the app has at
 * run time. `npm sbom --workspace` is not used, because it omits most of these packages. The same commit
 * gives the same bill.
 */
export function softwareBill(app: string) {
  const lock = readLockFile();
  const { packages, projects } = requiredPackages(lock, `apps/${app}`);
  const installed = [...projects, ...packages].filter((path) => existsSync(join(root, path, 'package.json')));
  const components = installed.map((path) => component(path, lock.packages[path]?.integrity));
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

function component(path: string, integrity: string | undefined) {
  const text = readFileSync(join(root, path, 'package.json'), 'utf8');
  const { name, version, license } = manifestSchema.parse(JSON.parse(text));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': `${name}@${version}#${path}`,
    name,
    version,
    purl,
    licenses: license === undefined ? [] : [licenceChoice(license)],
    hashes: (integrity ?? '').split(' ').flatMap(hashOf),
  };
}

/** Returns a licence as an SPDX identifier, an SPDX expression, or else a name. */
function licenceChoice(license: string) {
  if (/ (OR|AND|WITH) /.test(license)) return { expression: license };
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { license: { name: license } };
}

/** Converts a hash of the lock file (Subresource Integrity) to hexadecimal. */
function hashOf(integrity: string) {
  const [, base64] = /^sha512-(.*)$/.exec(integrity) ?? [];
  if (base64 === undefined) return [];
  return [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }];
}
