import preset from '../../jest.preset.mjs';

/** Runs one file at a time: the faults of one file would break the requests of another. */
export default {
  ...preset,
  maxWorkers: 1,
  testSequencer: '<rootDir>/faults-last.mjs',
  setupFilesAfterEnv: ['<rootDir>/src/suite/documented.setup.ts'],
};
