import { brokerNodes, serviceSettings } from '../index.js';

const stores = serviceSettings.pick({ RABBITMQ_URL: true, REDIS_URL: true, REDIS_SENTINELS: true });
const needed = { RABBITMQ_URL: 'amqp://a', REDIS_URL: 'redis://unused' };
const problems = (given: object) =>
  stores.safeParse({ ...needed, ...given }).error?.issues.map(({ message }) => message);

describe('RABBITMQ_URL', () => {
  it.each([
    ['one URL', 'amqps://user:word@a:5671/%2F', ['amqps://user:word@a:5671/%2F']],
    ['a URL whose password contains a comma', 'amqp://user:a,b@a', ['amqp://user:a,b@a']],
    ['several nodes', 'amqp://u:p@a,amqp://u:p@b:5673', ['amqp://u:p@a', 'amqp://u:p@b:5673']],
  ])('accepts %s', (_case, setting, nodes) => {
    expect(problems({ RABBITMQ_URL: setting })).toBeUndefined();
    expect(brokerNodes(setting)).toEqual(nodes);
  });

  it.each(['', 'http://a', 'amqp://a,http://b', 'amqp://a,amqp://', 'a:5672,b:5672'])(
    'rejects "%s" and says what it must be',
    (setting) => {
      expect(problems({ RABBITMQ_URL: setting })).toEqual([
        'must be an amqp: or amqps: URL, or those of several nodes separated by commas',
      ]);
    },
  );
});

describe('REDIS_SENTINELS', () => {
  it('names Sentinels by host, and by port unless it is the default', () => {
    expect(stores.parse({ ...needed, REDIS_SENTINELS: 's1, s2:26380,[::1]:7' }).REDIS_SENTINELS).toEqual([
      { host: 's1', port: 26_379 },
      { host: 's2', port: 26_380 },
      { host: '::1', port: 7 },
    ]);
  });

  it.each(['', 'a,', 'redis://a:26379', 'a:b', 'a:0', 'a:70000', '::1'])(
    'rejects "%s" and says what it must be',
    (setting) => {
      expect(problems({ REDIS_SENTINELS: setting })).toEqual([
        'must be host:port of each Sentinel, separated by commas',
      ]);
    },
  );
});
