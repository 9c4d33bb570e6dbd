import { z } from 'zod';
import { readConfig } from './read-config.js';
import { booleanSetting, keyring } from './setting-types.js';
import { printedProblems } from './printed-problems.fixture.js';

const schema = z.object({ PORT: z.coerce.number().int(), LOUD: booleanSetting(), KEY: keyring().optional() });

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
  ])('stops the start and prints that %s', (problem, environment) => {
    expect(printedProblems(schema, environment)).toContain(problem);
  });

  it('prints why a setting that another one requires is missing', () => {
    const withRequirement = schema.superRefine(({ LOUD, KEY }, context) => {
      if (LOUD && KEY === undefined)
        context.addIssue({ code: 'custom', path: ['KEY'], message: 'is required if LOUD is true' });
    });
    expect(printedProblems(withRequirement, { PORT: '1', LOUD: 'true' })).toBe(
      'The setting KEY is missing: is required if LOUD is true\n',
    );
  });
});

it.each([0, 255])('a keyring rejects a key of 32 bytes that are all %d, and accepts a random one', (byte) => {
  const text = Buffer.alloc(32, byte).toString('base64');
  expect(keyring().safeParse(text).error?.issues[0]?.message).toContain('must be random');
  expect(
    keyring().safeParse(Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')).success,
  ).toBe(true);
});
