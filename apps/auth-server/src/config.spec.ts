import { relaxedAuthServerSettings, authServerSettings } from './config.js';

const { SECOND_FACTOR_FOR_GLOBAL_ADMINS: schema } = authServerSettings.shape;

it('SECOND_FACTOR_FOR_GLOBAL_ADMINS is true by default, and false is reported as a relaxed setting', () => {
  const findRelaxed = (value: string | undefined) =>
    relaxedAuthServerSettings({ SECOND_FACTOR_FOR_GLOBAL_ADMINS: schema.parse(value) }).map(
      ({ setting: name }) => name,
    );
  expect(schema.parse(undefined)).toBe(true);
  expect(findRelaxed(undefined)).toEqual([]);
  expect(findRelaxed('true')).toEqual([]);
  expect(findRelaxed('false')).toEqual(['SECOND_FACTOR_FOR_GLOBAL_ADMINS']);
});
