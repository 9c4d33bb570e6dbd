import type { OrderSnapshot } from '@fulfilment/contracts';
import { join } from 'node:path';
import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { root } from '../../dev/settings.ts';
import type { BenchContext } from '../bench-context.ts';
import { freshDatabase } from '../bench-database.ts';
import { ServedProcess } from '../served-process.ts';

/** The number of the process's database connections. More requests would time out while they wait for one. */
const maxConcurrent = 10;
const committed = z.object({ committed_at_ms: z.number() });

/** A separate process that only commits messages to the suite's outbox, in its own database. */
export class OutboxSender {
  readonly databaseUrl: string;
  readonly process: ServedProcess;
  private readonly pool: Pool;

  /** @param namespace of the exchange to which it publishes */
  static async start(context: BenchContext, namespace: string, database: string): Promise<OutboxSender> {
    const databaseUrl = await freshDatabase(context.stores.postgres, database);
    const process = new ServedProcess(
      [join(root, 'libs', 'messaging', 'dist', 'testing', 'facts-sender.js')],
      {
        DATABASE_URL: databaseUrl,
        RABBITMQ_URL: context.stores.rabbitmq,
        RABBITMQ_NAMESPACE: namespace,
      },
    );
    return new OutboxSender(databaseUrl, process, await process.origin());
  }

  private constructor(databaseUrl: string, process: ServedProcess, origin: string) {
    this.databaseUrl = databaseUrl;
    this.process = process;
    this.pool = new Pool(origin, { connections: maxConcurrent });
  }

  /** Commits an `order.created` of each order in one transaction. @returns the time, in ms since 1970 */
  async commit(orders: readonly OrderSnapshot[]): Promise<number> {
    const response = await this.pool.request({ path: '/', method: 'POST', body: JSON.stringify(orders) });
    const text = await response.body.text();
    if (response.statusCode !== 201) throw new Failure(`The messages were not committed: ${text}`);
    return committed.parse(JSON.parse(text)).committed_at_ms;
  }

  async stop(): Promise<void> {
    await this.pool.close();
    await this.process.stop();
  }
}
