import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from './read-config.js';
import { serviceSettings } from './service-settings.js';
import { printedProblems } from './printed-problems.fixture.js';
import { secret, secretNames } from './secret-files.js';

const schema = z.object({
  PASSWORD: z.string().min(4).meta(secret).describe('A secret'),
  SPARE_KEY: z.string().meta(secret).optional().describe('An optional secret'),
  LEVEL: z.string().optional(),
});

describe('a secret in a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
  const fileWith = (text: string): string => {
    const path = join(directory, 'value');
    writeFileSync(path, text);
    return path;
  };
  afterAll(() => rmSync(directory, { recursive: true }));

  it('is the value of the setting, without the line break at its end', () => {
    expect(readConfig(schema, { PASSWORD_FILE: fileWith(' from a file \n') })).toEqual({
      PASSWORD: ' from a file ',
    });
  });

  it('may be given for an optional secret, and for a secret that a program made optional', () => {
    const path = fileWith('spare');
    expect(readConfig(schema, { PASSWORD: 'word', SPARE_KEY_FILE: path }).SPARE_KEY).toBe('spare');
    expect(readConfig(schema.partial({ PASSWORD: true }), { PASSWORD_FILE: path }).PASSWORD).toBe('spare');
  });

  it('is not accepted for a setting that is no secret', () => {
    expect(readConfig(schema, { PASSWORD: 'word', LEVEL_FILE: fileWith('high') }).LEVEL).toBeUndefined();
  });

  it.each([
    ['both are set', { PASSWORD: 'word', PASSWORD_FILE: '/any' }, 'PASSWORD and PASSWORD_FILE'],
    ['the file does not exist', { PASSWORD_FILE: '/missing/file' }, '(ENOENT)'],
    ['the path is a directory', { PASSWORD_FILE: tmpdir() }, '(EISDIR)'],
    ['the file is empty', { PASSWORD_FILE: '/dev/null' }, '/dev/null is empty'],
  ])('stops the start with a message that names the setting when %s', (_case, environment, message) => {
    expect(printedProblems(schema, environment)).toContain(message);
  });

  it('never appears in the message about an invalid value', () => {
    const messages = printedProblems(schema, { PASSWORD_FILE: fileWith('abc') });
    expect(messages).toContain('The setting PASSWORD is invalid');
    expect(messages).not.toContain('abc');
  });
});

it('serviceSettings marks store URLs, which contain passwords, and headers for the collector as secrets', () => {
  expect(secretNames(serviceSettings)).toEqual([
    'DATABASE_URL',
    'DATABASE_DIRECT_URL',
    'REDIS_URL',
    'REDIS_SENTINEL_PASSWORD',
    'RABBITMQ_URL',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ]);
});
