import { describe, expect, it } from '@jest/globals';
import { givenPassword } from './given-password.js';

const context = (development: boolean) => ({
  development,
  readSecret: () => Promise.resolve('from standard input'),
});

describe('--password of an operator command', () => {
  it('is read from a prompt or from standard input for "-"', async () => {
    expect(await givenPassword(context(false), '-')).toBe('from standard input');
    expect(await givenPassword(context(true), '-')).toBe('from standard input');
  });

  it('is taken from the command line in development only, and is not in the error', async () => {
    expect(await givenPassword(context(true), 'typed password')).toBe('typed password');
    const rejected = async () => givenPassword(context(false), 'typed password');
    await expect(rejected()).rejects.toThrow('--password must be "-"');
    await expect(rejected()).rejects.not.toThrow('typed password');
  });
});
