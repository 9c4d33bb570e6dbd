import { ask } from '@fulfilment/database';
import type { QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { advisoryLocks } from '../advisory-locks.js';

const retryDelayMs = 100;

/**
 * Runs `work` while no replica creates or drops partitions (history/day-partitions.ts). The lock ends with
 * the connection at the latest.
 */
export async function withPartitionsKept(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  while (!(await ask(runner, 'SELECT pg_try_advisory_lock($1) AS answer', [advisoryLocks.dayPartitions])))
    await delay(retryDelayMs);
  try {
    await work();
  } finally {
    if (!runner.isReleased)
      await runner.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.dayPartitions]);
  }
}
