/** What each service's own users may do at RabbitMQ and Redis (ADR 23), as the stores themselves enforce it. */
import { messages, topologyOf } from '@fulfilment/contracts';
import { type StoreUser, storeUsers } from '@fulfilment/contracts/permissions';
import { type Channel, connect } from 'amqplib';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stateDir, suite } from './suite/the-suite.js';

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

/** @returns the code with which RabbitMQ rejects the call; undefined when it accepts it */
async function rejection(user: StoreUser, call: (channel: Channel) => unknown): Promise<number | undefined> {
  const connection = await connect(urlOf('rabbitmq', user));
  try {
    const channel = await connection.createChannel();
    const failed = new Promise<number>((resolve) =>
      channel.once('error', (error: object) => resolve(Number(Reflect.get(error, 'code')))),
    );
    const done = (async () => {
      await call(channel);
      await channel.checkExchange(topology.factsExchange); // responds after the call was accepted
      return undefined;
    })();
    done.catch(() => undefined);
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
const accessRefused = 403;

/** Stores that were given have one user for all. */
const describeOwn = process.env.RABBITMQ_URL || process.env.REDIS_URL ? describe.skip : describe;

describeOwn('the RabbitMQ user of webhook-worker', () => {
  const user = 'webhook-worker';

  it.each([
    'fulfilment.shipped',
    'order.created',
    'creator.changed',
    'client.deleted',
    'catalogue.release_approved',
  ])('may not publish %s', async (type) => {
    expect(await rejection(user, publish(type))).toBe(accessRefused);
  });

  it('may publish what it owns', async () => {
    expect(await rejection(user, publish('webhook.permission_test'))).toBeUndefined();
  });

  it("may neither read, write, declare, bind nor delete store-api's queues", async () => {
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
    ];
    for (const call of calls) expect(await rejection(user, call)).toBe(accessRefused);
  });

  it('may not bind a queue of its own to facts that it has no need of', async () => {
    const name = topology.queue('webhook-worker.clients');
    const bind = (channel: Channel) => channel.bindQueue(name, topology.factsExchange, 'creator.*');
    expect(await rejection(user, bind)).toBe(accessRefused);
  });

  it('may not delete the exchange of facts', async () => {
    expect(await rejection(user, (channel) => channel.deleteExchange(topology.factsExchange))).toBe(
      accessRefused,
    );
  });
});

describeOwn('the RabbitMQ user of store-api', () => {
  it('publishes its events, and reports that waited for another', async () => {
    expect(await rejection('store-api', publish('order.permission_test'))).toBeUndefined();
    expect(await rejection('store-api', publish('fulfilment.permission.test'))).toBeUndefined();
    expect(await rejection('store-api', publish('creator.changed'))).toBe(accessRefused);
  });
});

describeOwn('the RabbitMQ user of the operator', () => {
  it("publishes the warehouse's messages and none of a service", async () => {
    expect(await rejection('operator', publish('fulfilment.permission.test'))).toBeUndefined();
    expect(await rejection('operator', publish('creator.changed'))).toBe(accessRefused);
  });
});

describeOwn('the Redis users', () => {
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

  it('let the APIs read the list of revoked tokens, and auth-server alone write it', async () => {
    await asUser('store-api', async (redis) => {
      expect(await redis.exists('deny:permission-test')).toBe(0);
      await expect(redis.set('deny:permission-test', '1')).rejects.toThrow('NOPERM');
      await expect(redis.del('deny:permission-test')).rejects.toThrow('NOPERM');
    });
    await asUser('auth-server', async (redis) => {
      await redis.set('deny:permission-test', '1', 'PX', 10);
    });
  });

  it("keep each service from the others' queues, also in scripts, and from commands of an administrator", async () => {
    await asUser('webhook-worker', async (redis) => {
      await expect(redis.get('creator:track-uploads:id')).rejects.toThrow('NOPERM');
      await expect(redis.eval("return redis.call('GET', 'creator:x')", 0)).rejects.toThrow();
      for (const command of [['FLUSHALL'], ['KEYS', '*'], ['CONFIG', 'GET', '*'], ['ACL', 'LIST']])
        await expect(redis.call(command[0] ?? '', ...command.slice(1))).rejects.toThrow('NOPERM');
    });
  });
});
