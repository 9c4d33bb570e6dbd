import { topologyOf } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { Failure } from '../dev/failure.ts';
import type { BenchContext } from './bench-context.ts';
import { benchEachService } from './bench-each-service.ts';
import { CreatorData } from './creator/creator-data.ts';
import { measureProjection, messagesPerSample } from './creator/projection.ts';
import type { Figure } from './figures.ts';
import { type Caller, measureCallers, type Sample } from './rounds.ts';
import { ServiceProcess } from './service-process.ts';
import { Shop } from './store/shop-data.ts';
import { callerCount, requestSender, storeRequests } from './store/store-callers.ts';
import { integrationToken, createStoreProcess } from './store/store-process.ts';
import { DeliveringWorker, deliveriesPerSample } from './webhooks/delivering-worker.ts';
import { ReceiverProcess } from './webhooks/receiver-process.ts';
import {
  comparePaths,
  growthFigures,
  measureIdleReads,
  type MeasurePath,
  pagesPerRequest,
  readPages,
  type BySize,
} from './compare-sizes.ts';

const smallRowCount = 100_000;
const warmUpSampleCount = 3;

/** Compares the hot paths of each service with many rows and with few. */
export async function benchGrowth(context: BenchContext): Promise<readonly Figure[]> {
  if (context.rowCount <= smallRowCount) throw new Failure(`--rows must be more than ${smallRowCount}.`);
  return benchEachService(
    {
      'store-api': () => compareOrders(context),
      'webhook-worker': () => compareDeliveries(context),
      'creator-api': () => comparePostings(context),
    },
    context.service,
  );
}

/** Calls `start` for a service with few rows and for one with many. @param rowsName for example `orders` */
async function startBySize<Service>(
  context: BenchContext,
  rowsName: string,
  start: (size: 'small' | 'large', rows: number) => Promise<Service>,
): Promise<BySize<Service>> {
  const { step, rowCount } = context;
  return {
    small: await step(`${smallRowCount} ${rowsName}`, () => start('small', smallRowCount)),
    large: await step(`${rowCount} ${rowsName}`, () => start('large', rowCount)),
  };
}

type FilledStore = Awaited<ReturnType<typeof startFilledStore>>;

/** Starts a store-api with a catalogue and `orderCount` older orders. */
async function startFilledStore(context: BenchContext, name: string, orderCount: number) {
  const store = await createStoreProcess(context, name);
  const database = await Shop.open(store.databaseUrl);
  const data = await database.addCatalogue();
  await database.addOlderOrders(orderCount);
  await store.start();
  const token = await integrationToken(store, data.creatorId);
  const requests = await storeRequests(store.origin, data, token);
  const send = requestSender(store.origin, { authorization: `Bearer ${token}` });
  return { store, database, requests, send };
}

const listOrders = ({ send }: FilledStore, filter: string): Promise<void> =>
  send('GET', `/store/v1/orders?limit=25${filter}`, 200);

/** The compared requests, in the order in which they are measured. */
const orderPaths: Readonly<Record<string, (service: FilledStore) => Caller>> = {
  'GET one order': ({ requests }) => requests.order,
  'order list': (service) => () => listOrders(service, ''),
  'order list by status': (service) => () => listOrders(service, '&status=shipped'),
  'order list by platform': (service) => () => listOrders(service, '&platform=shop'),
  'order list by store': (service) => () => listOrders(service, '&store_id=store-3'),
  'order list by external id': (service) => () => listOrders(service, '&external_order_id=external-5'),
  // Last: for a while afterwards, the outbox relay publishes the messages of the new orders, and the pages
  // that it reads would count for the next path.
  'POST order': ({ requests }) => requests.placeOrder,
};

async function compareOrders(context: BenchContext): Promise<Figure[]> {
  const services = await startBySize(context, 'orders', (size, rows) =>
    startFilledStore(context, `bench_growth_orders_${size}`, rows),
  );
  const measurePath =
    ({ store }: FilledStore, call: Caller): MeasurePath =>
    (onCompleted) => {
      const countedCall: Caller = () => call().then(() => onCompleted(1));
      const callers = Array.from({ length: callerCount }, () => countedCall);
      return measureCallers({ callers, server: store }, context.eachMs);
    };
  try {
    return await comparePaths(
      context,
      { small: services.small.database, large: services.large.database },
      Object.fromEntries(
        Object.entries(orderPaths).map(([name, callerOf]) => [
          `${name} with ${context.rowCount} orders, ratio to ${smallRowCount}`,
          {
            small: measurePath(services.small, callerOf(services.small)),
            large: measurePath(services.large, callerOf(services.large)),
          },
        ]),
      ),
    );
  } finally {
    for (const { store, database, requests, send } of [services.small, services.large]) {
      await Promise.all([requests.close(), send.close(), database.close()]);
      await store.stop();
    }
  }
}

async function compareDeliveries(context: BenchContext): Promise<Figure[]> {
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receivers: ReceiverProcess[] = [];
  const { small, large } = await startBySize(context, 'past deliveries', async (size, rows) => {
    const receiver = await ReceiverProcess.start();
    receivers.push(receiver);
    const worker = await DeliveringWorker.start(context, `bench_growth_${size}`, { receiver, channel });
    await worker.measureFromMessages(); // writes the event that the backlogs copy
    for (let sample = 0; sample < warmUpSampleCount; sample += 1) await worker.measureFromBacklog();
    await worker.data.addHistory(worker.subscribers, rows);
    await worker.data.vacuum();
    return worker;
  });
  const measurePath =
    (measureDeliveries: () => Promise<Sample>): MeasurePath =>
    async (onCompleted) => {
      const sample = await measureDeliveries();
      onCompleted(deliveriesPerSample);
      return sample;
    };
  const condition = `with ${context.rowCount} past deliveries, ratio to ${smallRowCount}`;
  try {
    return await comparePaths(
      context,
      { small: small.data, large: large.data },
      {
        [`deliveries from a backlog ${condition}`]: {
          small: measurePath(() => small.measureFromBacklog()),
          large: measurePath(() => large.measureFromBacklog()),
        },
        [`deliveries from messages ${condition}`]: {
          small: measurePath(() => small.measureFromMessages()),
          large: measurePath(() => large.measureFromMessages()),
        },
      },
    );
  } finally {
    for (const receiver of receivers) await receiver.stop();
    for (const worker of [small, large]) await worker.stop();
    await connection.close();
  }
}

async function comparePostings(context: BenchContext): Promise<Figure[]> {
  const services = await startBySize(context, 'postings', async (size, rows) => {
    const name = `bench_growth_ledger_${size}`; // of the database, and namespace of the queues
    const creator = await ServiceProcess.create(context, 'creator-api', name);
    const data = await CreatorData.open(creator.databaseUrl);
    await data.addPostings(rows);
    await creator.start();
    const queue = topologyOf(name).queue('creator-api.facts');
    return { creator, projector: { name: size, queue, data, server: creator } };
  });
  // After its first start, creator-api closes the past months and issues their statements. The measurement
  // does not include this.
  await context.step('Statements of past months', async () => {
    for (const { projector } of [services.small, services.large]) await projector.data.waitForStatements();
  });
  const data = { small: services.small.projector.data, large: services.large.projector.data };
  try {
    const reads = await measureIdleReads(data);
    const { created, paid } = await context.step('Projection', () =>
      measureProjection(context, [services.small.projector, services.large.projector]),
    );
    const after = await readPages(data);
    const messageTypes = 2; // orders and payments
    const warmUpRounds = 1;
    const messages = messageTypes * (context.rounds + warmUpRounds) * messagesPerSample;
    // Per message of either type: both are measured in the same rounds, so their pages cannot be separated.
    const pages = pagesPerRequest({ ...reads, after }, { small: messages, large: messages });
    const condition = `with ${context.rowCount} postings, ratio to ${smallRowCount}`;
    return [
      ...growthFigures(`new orders projected ${condition}`, created),
      ...growthFigures(`payments posted ${condition}`, paid, pages),
    ];
  } finally {
    for (const { creator, projector } of [services.small, services.large]) {
      await projector.data.close();
      await creator.stop();
    }
  }
}
