import preset from '../../jest.preset.mjs';

/** Runs one file at a time: faults.spec.ts would break the requests of another. `npm test` runs it alone. */
export default {
  ...preset,
  maxWorkers: 1,
  setupFilesAfterEnv: ['<rootDir>/src/suite/each-spec.setup.ts'],
};
