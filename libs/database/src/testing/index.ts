export { blocksRead, executedGenericPlan, executedPlan, type PlanNode, readPlan } from './executed-plan.js';
export { startFakePooler, type FakePooler, type FakePoolerOptions } from './fake-pooler.js';
export { startWhileLocked, untilLockWaits } from './lock-waits.js';
export { findBlockingMigrations } from './blocking-migrations.js';
export { absentReplica, countReplicaReads } from './replica-reads.js';
export { patientTimeouts, scratchDatabase, type ScratchDatabase } from './scratch-database.js';
export { streamingReplica, type StreamingReplica } from './streaming-replica.js';
