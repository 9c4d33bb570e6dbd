import type { MessageQueue } from '@fulfilment/contracts';
import { scratchDatabase } from '@fulfilment/database/testing';
import { eventually } from '@fulfilment/testing';
import {
  appliedIds,
  MessagingTestTables1700000000000,
  type Replica,
  type ReplicaSettings,
  startReplica,
} from './effects-replica.js';
import { scratchBroker } from './scratch-broker.js';

/** Long enough for the tests in which replicas lose their connections, on a busy machine. */
const appliedTimeoutMs = 100_000;

export type EffectsTestbed = Awaited<ReturnType<typeof effectsTestbed>>;

/** Creates a database and a queue that only one test uses, for replicas that record what they apply. */
export async function effectsTestbed(queue: MessageQueue) {
  const scratch = await scratchDatabase([MessagingTestTables1700000000000]);
  const broker = await scratchBroker([queue]);
  const replicas: Replica[] = [];
  return {
    scratch,
    broker,
    /** Starts a replica. Resolves when it is connected to RabbitMQ. */
    start: async (settings: Partial<ReplicaSettings> = {}): Promise<Replica> => {
      const { url, namespace } = broker;
      const replica = await startReplica({ databaseUrl: scratch.url, url, namespace, queue, ...settings });
      replicas.push(replica);
      await eventually(() => replica.messaging.connected);
      return replica;
    },
    /** Resolves with the ids of all applied messages, in order, once there are at least `count`. */
    untilApplied: (count: number): Promise<string[]> =>
      eventually(
        async () => {
          const ids = await appliedIds(scratch.database);
          return ids.length >= count ? ids : undefined;
        },
        { timeoutMs: appliedTimeoutMs, describe: () => `there are fewer than ${count} effects` },
      ),
    stop: async (): Promise<void> => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await broker.drop();
      await scratch.drop();
    },
  };
}
