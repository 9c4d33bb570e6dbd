export { migrationFaults } from './migration-faults.js';
export { scratchDatabase, type ScratchDatabase } from './scratch-database.js';
