import { serviceNames } from '@fulfilment/contracts/permissions';
import { type LockFile, readLockFile, requiredPackages } from './lock-file.ts';

describe('requiredPackages', () => {
  const lock: LockFile = {
    packages: {
      'apps/shop': { dependencies: { '@suite/lib': '1', a: '1' } },
      'libs/lib': { dependencies: { b: '1' } },
      'node_modules/@suite/lib': { link: true, resolved: 'libs/lib' },
      'node_modules/a': { dependencies: { b: '2' }, optionalDependencies: { absent: '1' } },
      'node_modules/a/node_modules/b': {},
      'node_modules/b': {
        peerDependencies: { c: '1', d: '1' },
        peerDependenciesMeta: { d: { optional: true } },
      },
      'node_modules/c': {},
      'node_modules/d': {},
      'node_modules/unused': {},
    },
  };

  it('returns the libraries, their links, and the packages where Node.js finds them, without optional peers', () => {
    expect(requiredPackages(lock, 'apps/shop')).toEqual({
      projects: ['apps/shop', 'libs/lib'],
      packages: ['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/b', 'node_modules/c'],
      links: [{ path: 'node_modules/@suite/lib', project: 'libs/lib' }],
    });
  });

  it('rejects a lock file that lacks a required package', () => {
    const incomplete = { packages: { 'apps/shop': { dependencies: { a: '1' } } } };
    expect(() => requiredPackages(incomplete, 'apps/shop')).toThrow('has no a, which apps/shop needs');
  });

  it.each([...serviceNames, 'bootstrap'])('gives %s no test library and no compiler', (app) => {
    const { packages, projects } = requiredPackages(readLockFile(), `apps/${app}`);
    const names = packages.map((path) => path.replace('node_modules/', ''));
    for (const name of ['playwright-core', 'jest', 'typescript', 'nx', 'supertest', '@nestjs/testing'])
      expect(names).not.toContain(name);
    expect(projects).not.toContain('libs/testing');
  });
});
