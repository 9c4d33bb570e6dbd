import preset from '../../jest.preset.mjs';

/**
 * Runs one file at a time, since faults.spec.ts would break the requests of another. `npm test` runs that
 * file after all others, two of which it runs at a time.
 */
export default {
  ...preset,
  maxWorkers: 1,
  setupFilesAfterEnv: ['<rootDir>/src/suite/each-spec.setup.ts'],
};
