import { readFileSync } from 'node:fs';
import { type MessageQueue, messageQueues, messages, serviceOfQueue } from './index.js';
import { brokerPermissions, redisRules, serviceNames, type StoreUser, storeUsers } from './permissions.js';

const allows = (pattern: string, name: string): boolean => new RegExp(pattern).test(name);

const queues = Object.keys(messageQueues).filter((name): name is MessageQueue =>
  Object.hasOwn(messageQueues, name),
);

/** By the first part of a message type. */
const expectedPublishers: Readonly<Record<string, readonly StoreUser[]>> = {
  order: ['store-api'],
  product: ['store-api'],
  fulfilment: ['store-api', 'operator'],
  catalogue: ['operator'],
  edition: ['creator-api'],
  track: ['creator-api'],
  creator: ['auth-server'],
  client: ['auth-server'],
  webhook: ['webhook-worker'],
  replay: [], // sent directly to the queue
};

describe('the permissions of store users', () => {
  it.each(Object.values(messages).map(({ type }) => type))('allow only its senders to publish %s', (type) => {
    const publishers = storeUsers.filter((user) => allows(brokerPermissions(user, 'suite').topicWrite, type));
    expect(publishers).toEqual(expectedPublishers[type.slice(0, type.indexOf('.'))]);
  });

  it('for a warehouse are those of docs/warehouses.md', () => {
    const { configure, write, read, topicWrite, topicRead } = brokerPermissions('warehouse', 'suite');
    const guide = readFileSync(new URL('../../../docs/warehouses.md', import.meta.url), 'utf8');
    expect(guide).toContain(`
rabbitmqctl set_permissions warehouse '${configure}' '${write}' '${read}'
rabbitmqctl set_topic_permissions warehouse suite.facts '${topicWrite}' '${topicRead}'
`);
  });

  it.each(queues)(
    'allow only the owner of %s to declare, read and write it, and to bind it to its patterns',
    (queue) => {
      const owner = serviceOfQueue(queue);
      for (const user of storeUsers) {
        const { configure, read, write, topicRead } = brokerPermissions(user, 'suite');
        // The queue, a later version of it, and a shard.
        for (const name of [`suite.${queue}`, `suite.${queue}.v2`, `suite.${queue}.v3.orders.0`])
          for (const pattern of [configure, read, write]) expect(allows(pattern, name)).toBe(user === owner);
        // Another service may consume messages of the same type, through a queue of its own.
        for (const pattern of messageQueues[queue])
          if (user === owner) expect(allows(topicRead, pattern)).toBe(true);
      }
    },
  );

  it('deny services write access to the default exchange, which reaches every queue', () => {
    const writers = storeUsers.filter((user) =>
      allows(brokerPermissions(user, 'suite').write, 'amq.default'),
    );
    expect(writers).toEqual(['operator']);
  });

  it('deny every user the deletion of the facts exchange', () => {
    for (const user of storeUsers)
      expect(allows(brokerPermissions(user, 'suite').configure, 'suite.facts')).toBe(false);
  });

  it('allow a service the job keys with the prefix of its setting, and no others', () => {
    expect(redisRules('webhook-worker')).toContain('~webhooks:*');
    const rules = redisRules('webhook-worker', { WEBHOOK_QUEUE_PREFIX: 'other' });
    expect(rules).toContain('~other:*');
    expect(rules).not.toContain('~webhooks:*');
    expect(redisRules('creator-api').join(' ')).not.toContain('webhooks');
  });

  it('allow only auth-server to write the deny list of tokens', () => {
    const writers = serviceNames.filter((user) => redisRules(user).includes('~deny:*'));
    expect(writers).toEqual(['auth-server']);
  });
});
