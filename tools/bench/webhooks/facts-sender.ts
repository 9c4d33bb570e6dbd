import type { OrderSnapshot } from '@fulfilment/contracts';
import { join } from 'node:path';
import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { root } from '../../dev/settings.ts';
import type { BenchSite } from '../bench-site.ts';
import { freshDatabase } from '../bench-database.ts';
import { ServedProcess } from '../served-process.ts';

/** As many as it has connections to its database: more would wait there, and not for ever. */
const atATime = 10;
const answered = z.object({ committed_at_ms: z.number() });

/**
 * A service that does nothing but commit facts by the suite's outbox, in a process of its own, with a
 * database of its own.
 */
export class FactsSender {
  readonly databaseUrl: string;
  readonly process: ServedProcess;
  private readonly pool: Pool;

  /** @param namespace of the exchange it publishes to */
  static async start(site: BenchSite, namespace: string, database: string): Promise<FactsSender> {
    const databaseUrl = await freshDatabase(site.stores.postgres, database);
    const process = new ServedProcess(
      [join(root, 'libs', 'messaging', 'dist', 'testing', 'facts-sender.js')],
      {
        DATABASE_URL: databaseUrl,
        RABBITMQ_URL: site.stores.rabbitmq,
        RABBITMQ_NAMESPACE: namespace,
      },
    );
    return new FactsSender(databaseUrl, process, await process.origin());
  }

  private constructor(databaseUrl: string, process: ServedProcess, origin: string) {
    this.databaseUrl = databaseUrl;
    this.process = process;
    this.pool = new Pool(origin, { connections: atATime });
  }

  /** Commits an `order.created` of each in one transaction. @returns its time, in ms since 1970 */
  async commit(orders: readonly OrderSnapshot[]): Promise<number> {
    const response = await this.pool.request({ path: '/', method: 'POST', body: JSON.stringify(orders) });
    const text = await response.body.text();
    if (response.statusCode !== 201) throw new Failure(`The facts were not committed: ${text}`);
    return answered.parse(JSON.parse(text)).committed_at_ms;
  }

  async stop(): Promise<void> {
    await this.pool.close();
    await this.process.stop();
  }
}
