import { createStoreClient } from '@fulfilment/client/store';
import { FakeSuite, type LocalServer, serve } from './fake-suite.fixture.js';
import { type Operate, trigger } from './trigger.js';

let suite: FakeSuite & LocalServer;
beforeEach(async () => {
  suite = await FakeSuite.start();
});
afterEach(() => suite.stop());

interface RunOptions {
  readonly operate?: Operate;
  readonly url?: string;
  readonly product?: string;
  readonly notes?: string[];
  readonly signal?: AbortSignal;
}

function run(event: string, options?: RunOptions): Promise<void> {
  return runAll([event], options);
}

function runAll(
  events: readonly string[],
  { operate, url = suite.url, product, notes = [], signal = new AbortController().signal }: RunOptions = {},
): Promise<void> {
  const client = createStoreClient({ baseUrl: `${url}/store`, auth: 'valid' });
  const terminal = { result: () => undefined, note: (line: string) => void notes.push(line) };
  return trigger(events, { client, operate, product }, terminal, { json: true, signal });
}

/** Returns a fake operator that records its commands. @param failing the command that it rejects */
function operator(failing?: string): { readonly operate: Operate; readonly commands: string[] } {
  const commands: string[] = [];
  const operate = (...parts: readonly string[]): Promise<void> => {
    const command = parts.join(' ');
    commands.push(command);
    return command === failing ? Promise.reject(new Error('It failed.')) : Promise.resolve();
  };
  return { operate, commands };
}

const limitedEdition = (id: string, status = 'available') => ({
  id,
  status,
  availability: { limited_edition: true, quantity: 3 },
});
const releasesOf = (...products: object[]) => ({
  data: [{ products }],
  pagination: { next_cursor: null, has_more: false },
});

/** Serves a list of products. */
function serveProducts(...products: object[]): Promise<LocalServer> {
  return serve((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(releasesOf(...products)));
  });
}

describe('trigger', () => {
  it.each(['order.shipped', 'order.payment_failed', 'product.in_stock'])(
    'rejects %s without a development suite, before it sends any request except that for the creator',
    async (event) => {
      await expect(run(event)).rejects.toThrow('name the folder of its clone with --clone');
      expect(suite.requests.filter((path) => path !== '/store/v1/creator')).toEqual([]);
    },
  );

  it('ships and delivers the order of a test creator through the API', async () => {
    const product = { id: 'prod_1', status: 'available', availability: { limited_edition: false } };
    const responses: Readonly<Record<string, object>> = {
      'GET /store/v1/creator': { id: 'cr_1', livemode: false },
      'GET /store/v1/releases': releasesOf(product),
      'POST /store/v1/shipping-rates': { data: [{ id: 'rate_1' }] },
      'POST /store/v1/orders': { id: 'ord_1' },
    };
    const reported: string[] = [];
    const api = await serve(({ method, url, body }, response) => {
      if (url.pathname === '/store/v1/test/orders/ord_1/events') reported.push(JSON.parse(body).event);
      const content = responses[`${method} ${url.pathname}`] ?? {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    });
    try {
      await run('order.delivered', { url: api.url });
    } finally {
      await api.stop();
    }
    expect(reported).toEqual(['shipped', 'delivered']);
  });

  it('sets the payment method to pm_ok even if no order can be placed, and prints the change', async () => {
    const { operate, commands } = operator();
    const notes: string[] = [];
    await expect(run('order.payment_failed', { operate, notes })).rejects.toThrow('NOT_FOUND');
    expect(notes).toEqual([expect.stringMatching(/^The payment method of cr_1 is now pm_ok\./)]);
    expect(commands).toEqual([
      'creator payment-method cr_1 pm_declined',
      'creator payment-method cr_1 pm_ok',
    ]);
  });

  it('sets the payment method to pm_ok even if the change to pm_declined is reported as failed', async () => {
    const { operate, commands } = operator('creator payment-method cr_1 pm_declined');
    await expect(run('order.payment_failed', { operate })).rejects.toThrow('It failed.');
    expect(commands).toEqual([
      'creator payment-method cr_1 pm_declined',
      'creator payment-method cr_1 pm_ok',
    ]);
  });

  describe('with a catalogue', () => {
    let api: LocalServer;
    beforeEach(async () => {
      api = await serveProducts(limitedEdition('prod_1', 'unavailable'), limitedEdition('prod_2'));
    });
    afterEach(() => api.stop());

    it('releases the product even if its withdrawal is reported as failed', async () => {
      const { operate, commands } = operator('product withdraw prod_2');
      await expect(run('product.available', { operate, url: api.url })).rejects.toThrow('It failed.');
      expect(commands).toEqual(['product withdraw prod_2', 'product release prod_2']);
    });

    it.each([
      ['product.out_of_stock', '-3', '3'],
      ['product.inventory_changed', '1', '-1'],
    ])(
      'triggers %s by an adjustment and its reverse, so that pieces sold in between stay sold',
      async (event, delta, reverse) => {
        const { operate, commands } = operator();
        await run(event, { operate, url: api.url });
        expect(commands).toEqual([`stock adjust prod_2 ${delta}`, `stock adjust prod_2 ${reverse}`]);
      },
    );

    it('stops between two events when the person stops it, and reverses the change of the first', async () => {
      const { operate, commands } = operator();
      const stop = new AbortController();
      const stopAtFirst: Operate = (...command) => {
        stop.abort();
        return operate(...command);
      };
      const events = ['product.available', 'product.in_stock'];
      await expect(
        runAll(events, { operate: stopAtFirst, url: api.url, signal: stop.signal }),
      ).rejects.toThrow('aborted');
      expect(commands).toEqual(['product withdraw prod_2', 'product release prod_2']);
    });

    it('names the previous stock when the reverse of an adjustment fails', async () => {
      const { operate } = operator('stock adjust prod_2 3');
      await expect(run('product.in_stock', { operate, url: api.url })).rejects.toThrow(
        'It failed. Check the stock of prod_2; it was 3 before.',
      );
    });

    it('rejects a limited edition that is not available', async () => {
      const { operate, commands } = operator();
      await expect(run('product.in_stock', { operate, url: api.url, product: 'prod_1' })).rejects.toThrow(
        'prod_1 is not available. Name an available limited edition with --product.',
      );
      expect(commands).toEqual([]);
    });
  });
});
