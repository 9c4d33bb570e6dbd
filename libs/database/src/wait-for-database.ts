import type { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';

const retryDelayMs = 500;

/** Retries until it connects: a service may start before its database. */
export async function connectWhenUp(
  dataSource: DataSource,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!dataSource.isInitialized) {
    try {
      await dataSource.initialize();
    } catch (error) {
      onFailure(error);
      await delay(retryDelayMs);
    }
  }
}
