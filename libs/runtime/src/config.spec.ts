import { jest } from '@jest/globals';
import { z } from 'zod';
import { flag, keyring, readConfig } from './config.js';

const schema = z.object({
  PORT: z.coerce.number().int(),
  LOUD: flag(),
  KEY: keyring().optional(),
});

describe('readConfig', () => {
  it('returns typed, frozen values, and treats an empty value as absent', () => {
    const config = readConfig(schema, { PORT: '80', LOUD: '' });
    expect(config).toEqual({ PORT: 80, LOUD: false });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    ['PORT is missing', {}],
    ['PORT is invalid', { PORT: 'eighty' }],
    ['LOUD is invalid', { PORT: '1', LOUD: 'yes' }],
    ['KEY is invalid', { PORT: '1', KEY: 'c2hvcnQ=' }],
  ])('stops the start and names the setting: %s', (setting, environment) => {
    const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exited');
    });
    const written: string[] = [];
    const stderr = jest
      .spyOn(process.stderr, 'write')
      .mockImplementation((text) => written.push(String(text)) > 0);
    expect(() => readConfig(schema, environment)).toThrow('exited');
    expect(exit).toHaveBeenCalledWith(78);
    expect(written.join('')).toContain(setting);
    exit.mockRestore();
    stderr.mockRestore();
  });
});

it.each([0, 255])('rejects a key of 32 bytes that are all %d', (byte) => {
  const text = Buffer.alloc(32, byte).toString('base64');
  expect(keyring().safeParse(text).error?.issues[0]?.message).toContain('must be random');
  expect(
    keyring().safeParse(Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')).success,
  ).toBe(true);
});
