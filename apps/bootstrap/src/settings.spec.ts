import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSetting, readDatabases, readSetting, requireUrl } from './settings.ts';

describe('the settings of bootstrap', () => {
  const directory = mkdtempSync(join(tmpdir(), 'settings-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const fileWith = (text: string): string => {
    const file = join(directory, 'setting');
    writeFileSync(file, text);
    return file;
  };

  it('may be files, without the line break at their end', () => {
    expect(readSetting({ PASSWORD_FILE: fileWith('word\n') }, 'PASSWORD')).toBe('word');
    expect(readSetting({ PASSWORD: 'word', PASSWORD_FILE: '' }, 'PASSWORD')).toBe('word');
  });

  it.each([
    ['is empty', () => fileWith('\n')],
    ['is missing', () => join(directory, 'missing')],
  ])('are rejected by name when their file %s', (_case, file) => {
    expect(() => requireUrl({ POSTGRES_ADMIN_URL_FILE: file() }, 'POSTGRES_ADMIN_URL')).toThrow(
      'The setting POSTGRES_ADMIN_URL_FILE is invalid',
    );
  });

  it('name the role, password and database of a service, decoded', () => {
    const url = 'postgres://store:it%27s%2Fsecret@postgres/orders?sslmode=verify-full';
    expect(readDatabases({ STORE_API_DATABASE_URL: url })).toEqual([
      { service: 'store-api', role: 'store', password: "it's/secret", database: 'orders' },
    ]);
  });

  it.each([
    ['no URL', 'postgres'],
    ['no password', 'postgres://store@postgres/store'],
    ['no database', 'postgres://store:word@postgres'],
    ['a "%" that encodes nothing', 'postgres://store:100%@postgres/store'],
  ])('are rejected by name, without their value, when a database URL has %s', (_case, url) => {
    const read = (): unknown => readDatabases({ AUTH_SERVER_DATABASE_URL: url });
    expect(read).toThrow(InvalidSetting);
    expect(read).toThrow(/^The setting AUTH_SERVER_DATABASE_URL must be a URL with [^:%]*$/);
  });

  it('end the program with status 78 when they are invalid', () => {
    const environment = { STORE_API_DATABASE_URL: 'postgres://store:100%@postgres/store' };
    const program = [join(import.meta.dirname, 'main.ts'), 'databases'];
    const { status, stderr } = spawnSync(process.execPath, program, { env: environment, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 78,
      stderr: expect.stringContaining('The setting STORE_API_DATABASE_URL'),
    });
  });
});
