export {
  mayAssumeRoleSql,
  qualifyColumns,
  statement,
  type Sql,
  type Statement,
  type CommitProbe,
  type Transaction,
  type Values,
} from './sql.js';
export { JsonRows } from './json-rows.js';
export { RowParameters } from './row-parameters.js';
export { BatchLoader } from './batch-loader.js';
export { keysetPages } from './keyset-pages.js';
export { BACKGROUND_DATABASE, Database, listTimeoutMs, type TransactionOptions } from './database.js';
export { ReadDatabase, type ReadReplica } from './read-replica/read-database.js';
export { createDataSource, type DataSourceSettings } from './connection/data-source.js';
export { migrate } from './migrations/migrate.js';
export {
  addDays,
  changePartitions,
  createMissingPartition,
  createPartition,
  currentDay,
  dayOfPartition,
  dayPartition,
  partitionsOf,
} from './partitions.js';
export {
  buildConcurrently,
  buildOnPartitionsConcurrently,
  changeWithLockTimeout,
  dropConcurrently,
  shardsPurpose,
} from './migrations/online-changes.js';
export { ScanStart, type ScanTimes } from './scan-start.js';
export {
  connectProgram,
  connectReplicaWhenUp,
  connectWhenUp,
  UnsuitableConnection,
  verifyNamedStatements,
  verifyOwnSession,
} from './connection/connect.js';
export { pipelined } from './transactions/pipelined.js';
export type { OpenTransaction } from './transactions/open-transaction.js';
export { isErrorResponse, timeoutName } from './driver-errors.js';
