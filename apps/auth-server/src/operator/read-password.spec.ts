import { readPassword } from './read-password.js';

const context = (hasLoopbackUrl: boolean) => ({
  hasLoopbackUrl,
  readSecret: () => Promise.resolve('from standard input'),
});

describe('--password of an operator command', () => {
  it('is read from a prompt or from standard input for "-"', async () => {
    expect(await readPassword(context(false), '-')).toBe('from standard input');
    expect(await readPassword(context(true), '-')).toBe('from standard input');
  });

  it('is taken from the command line only with a loopback AUTH_URL, and is not in the error', async () => {
    expect(await readPassword(context(true), 'typed password')).toBe('typed password');
    const read = async () => readPassword(context(false), 'typed password');
    await expect(read()).rejects.toThrow('--password must be "-"');
    await expect(read()).rejects.not.toThrow('typed password');
  });
});
