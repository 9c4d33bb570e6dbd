import { serviceProcess } from '@fulfilment/testing';
import { join } from 'node:path';
import { workerEnvironment, type WebhookStores } from './webhook-worker.fixture.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

/**
 * Leases of two seconds, so that deliveries of a killed process are soon due again, and enough attempts for a
 * test in which several are lost.
 */
export const shortLeases = {
  WEBHOOK_RETRY_SCHEDULE_MS: '0,100,100,200,400,800,800,800,800,800',
  WEBHOOK_TIMEOUT_MS: '1000',
  WEBHOOK_LEASE_SLACK_MS: '1000',
};

/** Starts the built webhook-worker in a process of its own, on the stores of a test. */
export async function startWorkerProcess(
  stores: WebhookStores,
  environment: Readonly<Record<string, string>> = {},
) {
  const settings = workerEnvironment(stores);
  const started = await serviceProcess(program, settings, { ...settings, ...environment });
  return { ...started, server: started.url };
}
export type WorkerProcess = Awaited<ReturnType<typeof startWorkerProcess>>;
