import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './settings.ts';

describe('npm start', () => {
  it('lists its options when it gets an unknown one', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(root, 'tools/dev/start.ts'), '--bogus'],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toContain("Unknown option '--bogus'");
    expect(stderr).toContain('npm start -- --detach');
  });
});
