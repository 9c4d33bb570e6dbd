import { brokerPermissions, factsExchangeOf, storeUsers } from '@fulfilment/contracts/permissions';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readText } from './workloads.fixture.ts';

const object = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ permissions: z.record(z.string(), z.string()).optional() }),
});

/** The specs of the objects of an example, by kind and name. */
function exampleOf(file: string) {
  const text = readText(`deploy/kubernetes/examples/${file}`);
  const objects = parseAllDocuments(text).map((document) => object.parse(document.toJS()));
  return new Map(objects.map((parsed) => [`${parsed.kind} ${parsed.metadata.name}`, parsed.spec]));
}

describe('the example of RabbitMQ', () => {
  it.each(storeUsers)('gives %s the permissions of brokerPermissions()', (user) => {
    const { configure, write, read, topicWrite, topicRead } = brokerPermissions(user, 'suite');
    const example = exampleOf('rabbitmq.yaml');
    expect(example.get(`Permission ${user}`)?.permissions).toEqual({ configure, write, read });
    expect(example.get(`TopicPermission ${user}`)?.permissions).toEqual({
      exchange: factsExchangeOf('suite'),
      write: topicWrite,
      read: topicRead,
    });
  });
});

it.each(['store', 'creator', 'auth', 'webhooks'])(
  'the example of PostgreSQL has the database %s and its owner',
  (name) => {
    const example = exampleOf('postgresql.yaml');
    expect(example.get(`Database ${name}`)).toMatchObject({ name, owner: name });
    expect(JSON.stringify(example.get('Cluster postgresql'))).toContain(`{"name":"${name}","login":true`);
  },
);
