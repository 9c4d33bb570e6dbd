import preset from '../../jest.preset.mjs';

/** In band: the faults of one file must not meet the requests of another. */
export default {
  ...preset,
  maxWorkers: 1,
  testSequencer: '<rootDir>/faults-last.mjs',
  setupFilesAfterEnv: ['<rootDir>/src/suite/documented.setup.ts'],
};
