import { serviceNames } from '@fulfilment/contracts/permissions';
import { readLockFile } from '../dev/bundle/lock-file.ts';
import { sbom } from './sbom.ts';

const x64 = { os: 'linux', cpu: 'x64', libc: 'glibc' };

describe('the SBOM of an image', () => {
  it('has the packages of the platform of the image, whatever is installed on this machine', () => {
    const native = (cpu: string) =>
      sbom('webhook-worker', { ...x64, cpu })
        .components.map(({ name }) => name)
        .filter((name) => name.startsWith('@msgpackr-extract/'));
    expect(native('x64')).toEqual(['@msgpackr-extract/msgpackr-extract-linux-x64']);
    expect(native('arm64')).toEqual(['@msgpackr-extract/msgpackr-extract-linux-arm64']);
  });

  it('describes a package by its name, version, licence and hash', () => {
    const { integrity = '', version } = readLockFile().packages['node_modules/@nestjs/core'] ?? {};
    const found = sbom('store-api', x64).components.find(({ name }) => name === '@nestjs/core');
    expect(found).toEqual({
      type: 'library',
      'bom-ref': `@nestjs/core@${version}#node_modules/@nestjs/core`,
      name: '@nestjs/core',
      version,
      purl: `pkg:npm/%40nestjs/core@${version}`,
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [
        {
          alg: 'SHA-512',
          content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
        },
      ],
    });
  });

  it.each([...serviceNames, 'bootstrap'])('knows the SPDX identifier of every licence of %s', (app) => {
    const licences = sbom(app, x64).components.flatMap(({ licenses }) => licenses);
    expect(licences.filter(({ license }) => license?.name !== undefined)).toEqual([]);
  });

  it.each([
    ['MIT', { license: { id: 'MIT' } }],
    ['(MIT OR CC0-1.0)', { expression: '(MIT OR CC0-1.0)' }],
    ['UNLICENSED', { license: { name: 'UNLICENSED' } }],
    ['SEE LICENSE IN LICENSE', { license: { name: 'SEE LICENSE IN LICENSE' } }],
  ])('writes the licence %s as %j', (license, expected) => {
    const lock = {
      packages: {
        'apps/shop': { name: '@fulfilment/shop', dependencies: { a: '1' } },
        'node_modules/a': { version: '1.0.0', license },
      },
    };
    expect(sbom('shop', x64, lock).components[0]?.licenses).toEqual([expected]);
  });
});
