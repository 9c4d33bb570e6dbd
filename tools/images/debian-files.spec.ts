import { lstatSync } from 'node:fs';
import { findProgram } from '../dev/run-program.ts';
import { filesOfPackages } from './debian-files.ts';

const onDebian = findProgram('dpkg-query') === undefined ? describe.skip : describe;

onDebian('the files of a Debian package', () => {
  it('include those of its dependencies and of essential packages', async () => {
    const files = await filesOfPackages(['apt']); // not essential itself
    expect(files).toContain('/usr/bin/apt');
    expect(files).toContainEqual(expect.stringMatching(/\/libapt-pkg\.so\./)); // of a dependency
    expect(files).toContain('/usr/bin/sed');
  });

  it('are listed in their real folders, together with links such as /bin', async () => {
    const files = await filesOfPackages(['apt']);
    expect(files).toContain('/bin');
    expect(files.filter((path) => path.startsWith('/bin/'))).toEqual([]);
    expect(files).toContain('/usr/bin/apt');
  });

  it('include no documentation, and only what the machine has', async () => {
    const files = await filesOfPackages(['apt']);
    expect(files.filter((path) => path.startsWith('/usr/share/doc/'))).toEqual([]);
    expect(files.filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined)).toEqual([]);
  });
});
