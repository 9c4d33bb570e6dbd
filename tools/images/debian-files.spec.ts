import { describe, expect, it } from '@jest/globals';
import { lstatSync } from 'node:fs';
import { findProgram } from '../dev/run-program.ts';
import { filesOfPackages } from './debian-files.ts';

const onDebian = findProgram('dpkg-query') === undefined ? describe.skip : describe;

onDebian('the files of Debian packages', () => {
  it('include the packages that a package needs, and the essential ones', async () => {
    const files = await filesOfPackages(['bash']);
    expect(files).toContainEqual(expect.stringMatching(/\/libc\.so\.6$/));
    expect(files).toContain('/usr/bin/sed');
  });

  it('are in the folders that links such as /bin lead to, with these links', async () => {
    const files = await filesOfPackages(['bash']);
    expect(files).toContain('/bin');
    expect(files.filter((path) => path.startsWith('/bin/'))).toEqual([]);
    expect(files).toContain('/usr/bin/bash');
  });

  it('include no documentation, and only what the machine has', async () => {
    const files = await filesOfPackages(['bash']);
    expect(files.filter((path) => path.startsWith('/usr/share/doc/'))).toEqual([]);
    expect(files.filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined)).toEqual([]);
  });
});
