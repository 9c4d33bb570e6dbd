import { messageQueues, messages, serviceOfQueue } from './index.js';
import { brokerPermissions, redisRules, storeUsers } from './permissions.js';
import type { MessageQueue } from './index.js';

const allows = (pattern: string, name: string): boolean => new RegExp(pattern).test(name);

const queues = Object.keys(messageQueues).filter((name): name is MessageQueue =>
  Object.hasOwn(messageQueues, name),
);

describe('the permissions at the stores', () => {
  it.each(Object.values(messages).map(({ type }) => type))(
    'let exactly the users of its sender publish %s',
    (type) => {
      const publishers = storeUsers.filter((user) =>
        allows(brokerPermissions(user, 'suite').publishes, type),
      );
      if (type.startsWith('replay.')) expect(publishers).toEqual([]);
      else if (type.startsWith('fulfilment.')) expect(publishers).toEqual(['store-api', 'operator']);
      else expect(publishers).toHaveLength(1);
    },
  );

  it.each(queues)('let the service of %s alone read and bind it', (queue) => {
    const owner = serviceOfQueue(queue);
    for (const user of storeUsers) {
      const { configure, read, write, binds } = brokerPermissions(user, 'suite');
      for (const name of [`suite.${queue}`, `suite.${queue}.v2`])
        for (const pattern of [configure, read, write]) expect(allows(pattern, name)).toBe(user === owner);
      for (const pattern of messageQueues[queue])
        if (user === owner) expect(allows(binds, pattern)).toBe(true);
    }
  });

  it('let no service write to the default exchange, through which it would reach every queue', () => {
    const writers = storeUsers.filter((user) =>
      allows(brokerPermissions(user, 'suite').write, 'amq.default'),
    );
    expect(writers).toEqual(['operator']);
  });

  it('let no service delete the exchange of facts', () => {
    for (const user of storeUsers)
      expect(allows(brokerPermissions(user, 'suite').configure, 'suite.facts')).toBe(false);
  });

  it('let a service reach the jobs under the prefix that its setting names, and no others', () => {
    expect(redisRules('webhook-worker')).toContain('~webhooks:*');
    const rules = redisRules('webhook-worker', { WEBHOOK_QUEUE_PREFIX: 'other' });
    expect(rules).toContain('~other:*');
    expect(rules).not.toContain('~webhooks:*');
    expect(redisRules('creator-api', { TRACK_UPLOAD_QUEUE_PREFIX: 'tracks' })).toContain('~tracks:*');
  });

  it('let auth-server alone write the list of revoked tokens', () => {
    const writers = (['store-api', 'creator-api', 'auth-server', 'webhook-worker'] as const).filter((user) =>
      redisRules(user).includes('~deny:*'),
    );
    expect(writers).toEqual(['auth-server']);
  });
});
