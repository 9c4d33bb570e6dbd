export { fakePooler, type FakePooler, type FakePoolerOptions } from './fake-pooler.js';
export { migrationFaults } from './migration-faults.js';
export { scratchDatabase, type ScratchDatabase } from './scratch-database.js';
