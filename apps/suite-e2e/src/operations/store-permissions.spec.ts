/** Tests that RabbitMQ and Redis enforce the permissions of each service's users (ADR 23). */
import { messages, topologyOf } from '@fulfilment/contracts';
import { type BrokerUser, type StoreUser, storeUsers } from '@fulfilment/contracts/permissions';
import { type Channel, connect } from 'amqplib';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stateDir, suite } from '../suite/the-suite.js';

const secrets = z
  .object({ storePasswords: z.record(z.enum(storeUsers), z.string()) })
  .parse(JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8')));
const topology = topologyOf('suite');

function urlOf(store: 'rabbitmq' | 'redis', user: StoreUser): string {
  const url = new URL(suite.dependencies[store] ?? '');
  url.username = user;
  url.password = secrets.storePasswords[user];
  return url.href;
}

/**
 * Returns the code with which RabbitMQ rejects a call; undefined when it accepts it. A rejection closes the
 * channel: its code is in the channel's error event, while the call itself may have no response.
 */
async function rejectionCode(
  user: BrokerUser,
  call: (channel: Channel) => unknown,
): Promise<number | undefined> {
  const connection = await connect(user === 'warehouse' ? suite.warehouse.rabbitmq : urlOf('rabbitmq', user));
  try {
    const channel = await connection.createChannel();
    const failed = new Promise<number>((resolve) =>
      channel.once('error', (error: object) => resolve(Number(Reflect.get(error, 'code')))),
    );
    const done = (async () => {
      await call(channel);
      await channel.checkExchange(topology.factsExchange); // succeeds only if the call was accepted
      return undefined;
    })();
    return await Promise.race([failed, done.catch(() => failed)]);
  } finally {
    await connection.close();
  }
}

const shipped = messages.fulfilmentShipped.make(
  { order_id: 'ord_x', carrier: 'x', tracking_number: 'x', tracking_url: 'https://track.example/x' },
  { occurredAt: new Date() },
);
const publish = (type: string) => (channel: Channel) =>
  channel.publish(topology.factsExchange, type, Buffer.from(JSON.stringify(shipped)));
/** Returns a message type that no queue is bound to, since patterns like `order.*` match one word. */
const unboundType = (firstWord: string): string => `${firstWord}.permission.test`;
const accessDenied = 403;

/** Runs a describe block unless the stores are external: an external store has one user for all services. */
const describeIfOwnStores = process.env.RABBITMQ_URL || process.env.REDIS_URL ? describe.skip : describe;

describeIfOwnStores('the RabbitMQ user of webhook-worker', () => {
  const user = 'webhook-worker';

  it.each([
    'fulfilment.shipped',
    'order.created',
    'creator.changed',
    'client.deleted',
    'catalogue.release_approved',
  ])('cannot publish %s', async (type) => {
    expect(await rejectionCode(user, publish(type))).toBe(accessDenied);
  });

  it('can publish its own messages', async () => {
    expect(await rejectionCode(user, publish(unboundType('webhook')))).toBeUndefined();
  });

  it("cannot read, write, declare, bind or delete store-api's queues", async () => {
    const name = topology.queue('store-api.fulfilment');
    const calls: ((channel: Channel) => unknown)[] = [
      (channel) => channel.get(name),
      (channel) => channel.consume(name, () => undefined),
      (channel) => channel.sendToQueue(name, Buffer.from('{}')),
      (channel) => channel.purgeQueue(name),
      (channel) => channel.deleteQueue(name),
      (channel) => channel.bindQueue(name, topology.factsExchange, 'webhook.*'),
      (channel) => channel.assertQueue('suite.store-api.mine'),
      (channel) => channel.get(topology.deadLetterQueue('store-api.fulfilment')),
      (channel) =>
        channel.publish(topology.deadLetterExchange('store-api.fulfilment'), name, Buffer.from('{}')),
      (channel) => channel.publish(`${name}.types`, `${name}.orders.0`, Buffer.from('{}')), // a shard
    ];
    for (const call of calls) expect(await rejectionCode(user, call)).toBe(accessDenied);
  });

  it('cannot bind its queue to messages that it does not consume', async () => {
    const name = topology.queue('webhook-worker.clients');
    const bind = (channel: Channel) => channel.bindQueue(name, topology.factsExchange, 'creator.*');
    expect(await rejectionCode(user, bind)).toBe(accessDenied);
  });

  it('cannot delete the facts exchange', async () => {
    expect(await rejectionCode(user, (channel) => channel.deleteExchange(topology.factsExchange))).toBe(
      accessDenied,
    );
  });
});

describeIfOwnStores('the RabbitMQ user of store-api', () => {
  it('can publish its events and deferred fulfilment events, but not those of auth-server', async () => {
    expect(await rejectionCode('store-api', publish(unboundType('order')))).toBeUndefined();
    expect(await rejectionCode('store-api', publish(unboundType('fulfilment')))).toBeUndefined();
    expect(await rejectionCode('store-api', publish('creator.changed'))).toBe(accessDenied);
  });
});

describeIfOwnStores('the RabbitMQ user of the operator', () => {
  it('can publish messages of the warehouse but not of a service', async () => {
    expect(await rejectionCode('operator', publish(unboundType('fulfilment')))).toBeUndefined();
    expect(await rejectionCode('operator', publish('creator.changed'))).toBe(accessDenied);
  });
});

describeIfOwnStores('the RabbitMQ user of a warehouse', () => {
  const { factsExchange } = topology;
  const own = 'suite.warehouse.permission-test';

  it('can consume orders from a queue of its own, and publish its events', async () => {
    const use = async (channel: Channel): Promise<void> => {
      await channel.assertQueue(own, { exclusive: true });
      await channel.bindQueue(own, factsExchange, 'order.processing');
      await channel.consume(own, () => undefined);
      publish(unboundType('fulfilment'))(channel);
    };
    expect(await rejectionCode('warehouse', use)).toBeUndefined();
  });

  it('cannot publish or read messages of services, nor use their queues', async () => {
    const calls: ((channel: Channel) => unknown)[] = [
      publish('order.created'),
      publish('catalogue.release_approved'),
      (channel) => channel.sendToQueue(topology.queue('store-api.fulfilment'), Buffer.from('{}')),
      (channel) => channel.get(topology.queue('creator-api.facts')),
      (channel) => channel.get(topology.deadLetterQueue('store-api.fulfilment')),
      (channel) => channel.assertQueue('suite.store-api.mine'),
      (channel) => channel.deleteExchange(factsExchange),
      async (channel) => {
        await channel.assertQueue(own, { exclusive: true });
        await channel.bindQueue(own, factsExchange, 'creator.*');
      },
    ];
    for (const call of calls) expect(await rejectionCode('warehouse', call)).toBe(accessDenied);
  });
});

describeIfOwnStores('the Redis users', () => {
  const asUser = async <Result>(
    user: StoreUser,
    work: (redis: Redis) => Promise<Result>,
  ): Promise<Result> => {
    const redis = new Redis(urlOf('redis', user), { maxRetriesPerRequest: 1 });
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  };

  it('allow store-api only to read the deny list of tokens, and auth-server to write it', async () => {
    await asUser('store-api', async (redis) => {
      expect(await redis.exists('deny:permission-test')).toBe(0);
      await expect(redis.set('deny:permission-test', '1')).rejects.toThrow('NOPERM');
      await expect(redis.del('deny:permission-test')).rejects.toThrow('NOPERM');
    });
    await asUser('auth-server', async (redis) => {
      await redis.set('deny:permission-test', '1', 'PX', 10);
    });
  });

  it('deny creator-api the queues of webhook-worker, also in scripts, and administrator commands', async () => {
    await asUser('creator-api', async (redis) => {
      await expect(redis.get('webhooks:dispatch:id')).rejects.toThrow('NOPERM');
      await expect(redis.eval("return redis.call('GET', 'webhooks:x')", 0)).rejects.toThrow();
      for (const command of [['FLUSHALL'], ['KEYS', '*'], ['CONFIG', 'GET', '*'], ['ACL', 'LIST']])
        await expect(redis.call(command[0] ?? '', ...command.slice(1))).rejects.toThrow('NOPERM');
    });
  });
});
