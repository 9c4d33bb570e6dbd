export { statement, type OpenTransaction, type Sql, type Statement, type Transaction } from './sql.js';
export { GatheredReads, type GatheredReadsOptions } from './gathered-reads.js';
export { Database } from './database.js';
export { createDataSource, type DataSourceSettings } from './data-source.js';
export { migrate } from './migrate.js';
export { connectWhenUp } from './wait-for-database.js';
