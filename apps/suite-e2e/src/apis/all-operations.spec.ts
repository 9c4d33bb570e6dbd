import { eventually } from '@fulfilment/testing';
import { readDocument } from '@fulfilment/testing/reference';
import fc from 'fast-check';
import { z } from 'zod';
import { type ApiClient, bodyOf } from '../suite/api-client.js';
import { newMerchant, newProduct } from '../suite/merchant.js';
import { type OperationRequest, operationsWithFullPaths, requestsTo } from './operation-requests.js';
import { placeOrder } from '../suite/orders.js';

const requestsPerOperation = 10;
const idsShape = z.object({
  data: z.array(z.object({ id: z.string().optional(), uuid: z.string().optional() })),
});

const feedShape = z.object({ data: z.array(z.object({ event: z.string() })) });

const apis = [
  { document: readDocument('store'), prefix: '/store', lists: ['/v1/releases', '/v1/orders'] },
  { document: readDocument('creator'), prefix: '/creator', lists: ['/api/v1/creators'] },
];
/** The response of this operation, a stream of events, has no end. */
const endlessOperation = 'streamOrders';
const operations = apis.flatMap(({ document, prefix }) =>
  operationsWithFullPaths(document, prefix)
    .filter(({ documented }) => documented.operationId !== endlessOperation)
    .map((operation) => ({ ...operation, document, prefix })),
);

describe('the operation', () => {
  let clients: Readonly<Record<string, ApiClient>>;
  let knownIds: string[];
  beforeAll(async () => {
    const merchant = await newMerchant();
    const readFeed = () => merchant.store.get('/store/v1/events').expect(200);
    await readFeed(); // begins the event feed
    const { sku, releaseUuid } = await newProduct(merchant);
    await placeOrder(merchant.store, [{ sku, quantity: 1 }]);
    // A generated request to a feed without events would wait for one.
    await eventually(async () =>
      bodyOf(await readFeed(), feedShape).data.some(({ event }) => event === 'order.created'),
    );
    clients = { '/store': merchant.store, '/creator': merchant.dashboard };
    const listed = apis.flatMap(({ prefix, lists }) => lists.map((list) => idsIn(prefix, list)));
    knownIds = [sku, releaseUuid, ...(await Promise.all(listed)).flat()];
  });

  const clientOf = (prefix: string): ApiClient => {
    const client = clients[prefix];
    if (client === undefined) throw new Error(`There is no client for ${prefix}.`);
    return client;
  };

  async function idsIn(prefix: string, path: string): Promise<string[]> {
    const { data } = bodyOf(await clientOf(prefix).get(`${prefix}${path}`).expect(200), idsShape);
    return data.flatMap(({ id, uuid }) => [id, uuid].filter((value) => value !== undefined));
  }

  it.each(operations)(
    `$name responds as documented, and not with 5xx, to ${requestsPerOperation} generated requests`,
    async (operation) => {
      const requests = requestsTo(operation, operation.document, knownIds);
      const send = async ({ path, query, headers, body }: OperationRequest): Promise<void> => {
        const sent = clientOf(operation.prefix).send(operation.method, path).query(query).set(headers);
        const { status } = await (body === undefined ? sent : sent.type('json').send(JSON.stringify(body)));
        if (status >= 500) throw new Error(`It responded ${status}.`);
      };
      await fc.assert(fc.asyncProperty(requests, send), {
        numRuns: requestsPerOperation,
        endOnFailure: true,
      });
    },
  );
});
