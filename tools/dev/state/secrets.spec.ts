import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOrCreateSecrets } from './secrets.ts';

describe('the secrets of a state directory', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'secrets-'));
  const file = join(stateDir, 'secrets.json');
  afterAll(() => rmSync(stateDir, { recursive: true }));

  it('are created once: a later start neither changes nor writes them', () => {
    const created = readOrCreateSecrets(stateDir);
    utimesSync(file, 0, 0);
    expect(readOrCreateSecrets(stateDir)).toEqual(created);
    expect(statSync(file).mtimeMs).toBe(0);
  });

  it('include those that a file of an older version does not have', () => {
    const { cookieKeys, ...older } = readOrCreateSecrets(stateDir);
    writeFileSync(file, JSON.stringify(older));
    const updated = readOrCreateSecrets(stateDir);
    expect(updated).toEqual({ ...older, cookieKeys: expect.any(String) });
    expect(updated.cookieKeys).not.toBe(cookieKeys);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(updated);
  });
});
