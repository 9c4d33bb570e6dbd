import type { OrderSnapshot } from '@fulfilment/contracts';
import { join } from 'node:path';
import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { root } from '../../dev/settings.ts';
import type { BenchContext } from '../bench-context.ts';
import { createEmptyDatabase } from '../bench-database.ts';
import { ServedProcess } from '../served-process.ts';

/** The number of the process's database connections. Further requests could time out while they wait. */
const maxConcurrent = 10;
const committed = z.object({ committed_at_ms: z.number(), cpu_ms: z.number() });

/** A process with its own database that only publishes messages, with the suite's outbox and relay. */
export type OutboxSender = Awaited<ReturnType<typeof startOutboxSender>>;

/** @param namespace the namespace of the exchange to which it publishes */
export async function startOutboxSender(context: BenchContext, namespace: string, database: string) {
  const databaseUrl = await createEmptyDatabase(context.stores.postgres, database);
  const program = join(root, 'libs', 'messaging', 'dist', 'testing', 'outbox-sender.js');
  const server = new ServedProcess([program], {
    DATABASE_URL: databaseUrl,
    RABBITMQ_URL: context.stores.rabbitmq,
    RABBITMQ_NAMESPACE: namespace,
  });
  const pool = new Pool(await server.origin(), { connections: maxConcurrent });
  return {
    databaseUrl,
    server,
    /**
     * Commits an `order.created` of each order in one transaction.
     * @returns the time of the commit in ms since 1970, and the processor time of the process until then
     */
    commit: async (orders: readonly OrderSnapshot[]) => {
      const response = await pool.request({ path: '/', method: 'POST', body: JSON.stringify(orders) });
      const text = await response.body.text();
      if (response.statusCode !== 201) throw new Failure(`The messages were not committed: ${text}`);
      return committed.parse(JSON.parse(text));
    },
    stop: async (): Promise<void> => {
      await pool.close();
      await server.stop();
    },
  };
}
