import { messages, type OrderSnapshot } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { placedOrder } from '../placed-order.ts';
import { type Part, partOf, type Rounds } from '../rounds.ts';
import type { ServedProcess } from '../served-process.ts';
import { busyCreator, type CreatorData } from './creator-data.ts';

/** A consumer of order messages, the queue it takes them from and the rows it makes of them. */
export interface Projector {
  readonly name: string;
  readonly queue: string;
  readonly data: CreatorData;
  readonly process: ServedProcess;
}

/** Messages a part of a round. */
const perPart = 4_000;
const appliedWithinMs = 60_000;
const lookEveryMs = 5;

function paid(order: OrderSnapshot): OrderSnapshot {
  const payment = { ...order.payment, status: 'paid' as const, charged_at: order.placed_at };
  return { ...order, version: 2, status: 'processing', payment };
}

/** How fast new orders and payments are projected, of all projectors in turns. */
export async function measureProjection(
  site: BenchSite,
  projectors: readonly Projector[],
): Promise<{ created: Rounds; paid: Rounds }> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const parts = projectors.map((projector) => ({
    projector,
    created: new Array<Part>(),
    paid: new Array<Part>(),
  }));

  /** The queue is filled while its consumer is held, so that writing and taking do not share the machine. */
  const project = async ({ queue, data, process }: Projector, told: readonly { id: string }[]) => {
    const bodies = told.map((message) => Buffer.from(JSON.stringify(message)));
    process.hold();
    for (const body of bodies) channel.publish('', queue, body, { persistent: true, mandatory: true });
    await channel.waitForConfirms();
    const cpuBefore = process.cpuMs();
    const startedAt = performance.now();
    process.release();
    await waitFor(() => data.isApplied(told.at(-1)?.id ?? ''));
    return partOf(told.length, performance.now() - startedAt, [cpuBefore, process.cpuMs()]);
  };

  const now = { occurredAt: new Date() };
  for (let round = -1; round < site.rounds; round += 1) {
    for (const part of round % 2 === 0 ? parts : parts.toReversed()) {
      const orders = Array.from({ length: perPart }, (_, index) => placedOrder(index, busyCreator));
      const created = await project(
        part.projector,
        orders.map((order) => messages.orderCreated.make({ order }, now)),
      );
      const payments = await project(
        part.projector,
        orders.map((order) => messages.orderProcessing.make({ order: paid(order) }, now)),
      );
      if (round < 0) continue; // what runs for the first time is compiled
      part.created.push(created);
      part.paid.push(payments);
    }
  }
  await connection.close();
  return {
    created: Object.fromEntries(parts.map((part) => [part.projector.name, part.created])),
    paid: Object.fromEntries(parts.map((part) => [part.projector.name, part.paid])),
  };
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + appliedWithinMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new Failure('The messages were not applied in time.');
    await sleep(lookEveryMs);
  }
}
