import { operationsOf } from '@fulfilment/api-reference';
import { webhookEvents } from '@fulfilment/contracts';
import {
  boundMismatches,
  readDocument,
  registeredRoutes,
  SchemaValidator,
} from '@fulfilment/testing/reference';
import { setUpWorker } from './test/worker-setup.fixture.js';

const document = readDocument('store');
const url = 'https://8.8.8.8/hooks'; // needs no name server
const secret = 'whsec_test';
const subscription = { url, secret, events: ['order.created'] };

const given = setUpWorker();

describe('the API reference of webhooks', () => {
  it('contains every route of this service', () => {
    const expected = operationsOf(document)
      .filter(({ path }) => /^\/v1\/(webhook|events)/.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const routes = registeredRoutes(given.worker.app.getHttpAdapter().getInstance(), '/store');
    expect(routes.sort()).toEqual(expected.sort());
  });

  it('has the same bounds of request bodies as their validation', async () => {
    const client = await given.client();
    const id = await client.subscribe(url);
    const mismatches = await Promise.all([
      boundMismatches(document, 'CreateSubscriptionRequest', subscription, (body) => client.post(body)),
      boundMismatches(document, 'UpdateSubscriptionRequest', { ...subscription, status: 'active' }, (body) =>
        client.patch(id, body),
      ),
      boundMismatches(
        document,
        'RecoverDeliveriesRequest',
        { since: '2026-11-20T12:00:00Z', until: '2026-11-21T12:00:00Z', statuses: ['failed'] },
        (body) => client.post(body, `/${id}/recover`),
      ),
      boundMismatches(document, 'SendTestEventRequest', { event: 'order.created' }, (body) =>
        client.post(body, `/${id}/test`),
      ),
    ]);
    expect(mismatches.flat()).toEqual([]);
  });

  it('has the values that the filters of the list of deliveries accept', async () => {
    const client = await given.client();
    const id = await client.subscribe(url);
    const { parameters = [] } = document.paths['/v1/webhooks/{id}/deliveries']?.get ?? {};
    for (const { name, in: place, schema } of parameters) {
      if (place !== 'query' || schema.enum === undefined) continue;
      const statusOf = async (value: string) =>
        (await client.get(`/${id}/deliveries?${name}=${value}`)).status;
      for (const value of schema.enum) expect([name, await statusOf(String(value))]).toEqual([name, 200]);
      expect([name, await statusOf('none')]).toEqual([name, 400]);
    }
  });

  it('describes the body and headers of each sent event', async () => {
    const validator = new SchemaValidator(document);
    // One subscription may send 10 test events a minute.
    for (const events of [webhookEvents.slice(0, 6), webhookEvents.slice(6)]) {
      const { client, id } = await given.subscriber([...webhookEvents]);
      await client.patch(id, { signature: 'v1a' }).expect(200); // both kinds of signature in the headers
      for (const event of events) await client.post({ event }, `/${id}/test`).expect(202);
    }
    const deliveries = await given.receiver.waitFor(webhookEvents.length);
    expect(new Set(deliveries.map(({ body }) => body.event))).toEqual(new Set(webhookEvents));
    for (const { body, headers } of deliveries) {
      const operation = document.webhooks?.[body.event]?.post;
      const schema = operation?.requestBody?.content['application/json']?.schema ?? {};
      expect([body.event, validator.violations(schema, body)]).toEqual([body.event, []]);
      const documented = operation?.parameters ?? [];
      for (const { name, required, schema: headerSchema } of documented) {
        const value = headers[name.toLowerCase()];
        if (value !== undefined || required === true)
          expect([name, validator.violations(headerSchema, value)]).toEqual([name, []]);
      }
      const ours = Object.keys(headers).filter((name) => name.startsWith('x-service-'));
      const names = documented.map(({ name }) => name.toLowerCase());
      expect(names).toEqual(expect.arrayContaining(ours));
    }
  });
});
