import { resolveWithin } from './resolve-within.js';

const never = new Promise<never>(() => undefined);

describe('resolveWithin', () => {
  it('returns the result or throws the error of the work if that ends in time', async () => {
    expect(await resolveWithin(60_000, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(resolveWithin(60_000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow(
      'failed',
    );
  });

  it('returns the result or throws the error of onTimeout otherwise', async () => {
    expect(await resolveWithin(1, never, () => 'late')).toBe('late');
    const fail = (): never => {
      throw new Error('too late');
    };
    await expect(resolveWithin(1, never, fail)).rejects.toThrow('too late');
  });
});
