import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidInput, readDatabases, readSetting, requireUrl } from './settings.ts';

describe('the settings of bootstrap', () => {
  const directory = mkdtempSync(join(tmpdir(), 'settings-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const fileWith = (text: string): string => {
    const file = join(directory, 'setting');
    writeFileSync(file, text);
    return file;
  };

  it('may be in a file, and are then read without the white space around them', () => {
    expect(readSetting({ PASSWORD_FILE: fileWith(' word\n') }, 'PASSWORD')).toBe('word');
  });

  it('are read from NAME when NAME_FILE is empty', () => {
    expect(readSetting({ PASSWORD: 'word', PASSWORD_FILE: '' }, 'PASSWORD')).toBe('word');
  });

  it.each([
    ['is empty', () => fileWith('\n'), 'is empty'],
    ['is missing', () => join(directory, 'missing'), 'cannot be read (ENOENT)'],
    ['is a directory', () => directory, 'cannot be read (EISDIR)'],
  ])('are named in the error when their file %s', (_case, file, problem) => {
    const path = file();
    expect(() => requireUrl({ POSTGRES_ADMIN_URL_FILE: path }, 'POSTGRES_ADMIN_URL')).toThrow(
      new InvalidInput(`The setting POSTGRES_ADMIN_URL_FILE is invalid: the file ${path} ${problem}.`),
    );
  });

  it('contain the role, password and database of a service in one URL, percent-encoded', () => {
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
  ])('are named in the error, without their value, when a database URL has %s', (_case, url) => {
    const read = (): unknown => readDatabases({ AUTH_SERVER_DATABASE_URL: url });
    expect(read).toThrow(InvalidInput);
    expect(read).toThrow(
      /^The setting AUTH_SERVER_DATABASE_URL must be a URL with a role, a password and a database, each percent-encoded\.$/,
    );
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
