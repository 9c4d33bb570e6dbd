import { listen, uniqueName } from '@fulfilment/testing';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type FakeResponse,
  broken,
  drip,
  foundOrMissing,
  invalid,
  metadataOf,
  missing,
  send,
  intentResponse,
  type FakeIntent,
  type FakeRefund,
} from './stripe-responses.fixture.js';

/**
 * A fault before, during or after the processing of a request. The `broken-…` faults are only for requests
 * that create something.
 */
export type FakeStripeFault =
  | { readonly status: number; readonly error: object } // instead of any processing; not stored under the key
  | 'broken-before' // 500 before any effect, stored under the key
  | 'broken-between' // same, after the PaymentIntent was created but not confirmed
  | 'broken-after' // same, after the whole effect
  | 'lost-request' // the connection is cut before any effect
  | 'lost-response' // the connection is cut after the effect
  | 'silent' // no response after the effect
  | 'dripping'; // an endless response, byte by byte, after the effect

export const fakeStripeKey = 'sk_test_fake';

/** A payment method for which Stripe never responds. */
export const unresponsivePaymentMethod = 'pm_card_neverResponds';

/** Eight digits, https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts */
const maxAmount = 99_999_999;

const cardErrors: Readonly<Record<string, object>> = {
  pm_card_chargeDeclined: { code: 'card_declined', decline_code: 'generic_decline' },
  pm_card_insufficientFunds: { code: 'card_declined', decline_code: 'insufficient_funds' },
  pm_card_authenticationRequired: { code: 'authentication_required' },
};

/**
 * A fake of Stripe's HTTP API as documented: PaymentIntents that are created and confirmed in one request,
 * listed and searched; refunds; and idempotency keys, under which the first response is repeated, unless the
 * request was rejected before it was processed.
 */
export async function fakeStripe() {
  const intents = new Map<string, FakeIntent>();
  const refunds: FakeRefund[] = [];
  const requests: { method: string; path: string; key: string | undefined; form: URLSearchParams }[] = [];
  const faults: { path: string; fault: FakeStripeFault }[] = [];
  const resultsByKey = new Map<string, { form: string; result: FakeResponse }>();
  const unsearchable = new Set<string>();
  let livemode = false;
  let searchIsBehind = false;
  let customerOfMethods: string | null = 'cus_fake';
  const nextRefundStatuses: string[] = [];
  const nextIntentStatuses: string[] = [];

  const nowSeconds = () => Math.floor(Date.now() / 1000);

  const createIntent = (form: URLSearchParams, fault?: FakeStripeFault): FakeResponse => {
    const amount = Number(form.get('amount'));
    if (form.has('payment_method_types'))
      return invalid('payment_method_types_no_longer_supported', 'payment_method_types');
    if (!Number.isSafeInteger(amount) || amount < 1) return invalid('parameter_invalid_integer', 'amount');
    if (amount > maxAmount) return invalid('amount_too_large', 'amount');
    const paymentMethod = form.get('payment_method') ?? '';
    if (!paymentMethod.startsWith('pm_card_')) return invalid('resource_missing', 'payment_method');
    if (fault === 'broken-before') return broken();
    const intent: FakeIntent = {
      id: uniqueName('pi'),
      object: 'payment_intent',
      amount,
      currency: form.get('currency') ?? '',
      created: nowSeconds(),
      customer: form.get('customer'),
      metadata: metadataOf(form),
      status: 'requires_confirmation',
      last_payment_error: null,
      latest_charge: null,
    };
    intents.set(intent.id, intent);
    if (searchIsBehind) unsearchable.add(intent.id);
    if (fault === 'broken-between') return broken();
    const result = confirm(intent, form);
    return fault === 'broken-after' ? broken() : result;
  };

  const confirm = (intent: FakeIntent, form: URLSearchParams): FakeResponse => {
    if (intent.status !== 'requires_confirmation') return invalid('payment_intent_unexpected_state');
    const cardError = cardErrors[form.get('payment_method') ?? ''];
    intent.latest_charge = { id: uniqueName('ch'), object: 'charge', created: nowSeconds() };
    intent.status =
      cardError === undefined ? (nextIntentStatuses.shift() ?? 'succeeded') : 'requires_payment_method';
    intent.last_payment_error = cardError ?? null;
    if (cardError === undefined) return { status: 200, body: intentResponse(intent, form) };
    const error = {
      type: 'card_error',
      message: 'Your card was declined.',
      ...cardError,
      payment_intent: intentResponse(intent),
    };
    return { status: 402, body: { error } };
  };

  const createRefund = (form: URLSearchParams, fault?: FakeStripeFault): FakeResponse => {
    if (fault === 'broken-before') return broken();
    const intent = intents.get(form.get('payment_intent') ?? '');
    if (intent?.status !== 'succeeded') return invalid('payment_intent_unexpected_state', 'payment_intent');
    const isRefunded = refunds.some(
      (refund) => refund.payment_intent === intent.id && refund.status !== 'failed',
    );
    if (isRefunded) return invalid('charge_already_refunded');
    const refund: FakeRefund = {
      id: uniqueName('re'),
      object: 'refund',
      payment_intent: intent.id,
      status: nextRefundStatuses.shift() ?? 'succeeded',
    };
    refunds.push(refund);
    return fault === 'broken-after' ? broken() : { status: 200, body: { ...refund } };
  };

  /** Responds to a GET of `/v1/<kind>` or `/v1/<kind>/<name>`. */
  const read = (path: string, query: URLSearchParams): FakeResponse => {
    const [, , kind, name = ''] = path.split('/');
    if (kind === 'payment_methods')
      return name.startsWith('pm_card_')
        ? { status: 200, body: { id: name, object: 'payment_method', customer: customerOfMethods } }
        : missing();
    if (kind === 'balance') return { status: 200, body: { object: 'balance', livemode } };
    if (kind === 'refunds')
      return name === '' ? listRefunds(query) : foundOrMissing(refunds.find(({ id }) => id === name));
    if (kind !== 'payment_intents') return missing();
    if (name === '') return list(query);
    const intent = intents.get(name);
    if (name !== 'search')
      return intent === undefined ? missing() : { status: 200, body: intentResponse(intent, query) };
    const requested = /^metadata\['charge_id'\]:'([^']+)'$/.exec(query.get('query') ?? '')?.[1];
    const data = [...intents.values()].filter(
      ({ id, metadata }) => metadata['charge_id'] === requested && !unsearchable.has(id),
    );
    return {
      status: 200,
      body: {
        object: 'search_result',
        data: data.map((intent) => intentResponse(intent, query)),
        has_more: false,
      },
    };
  };

  /** Newest first, on one page. */
  const listRefunds = (query: URLSearchParams): FakeResponse => {
    const requested = query.get('payment_intent');
    const data = refunds.filter(({ payment_intent }) => requested === null || payment_intent === requested);
    return { status: 200, body: { object: 'list', data: data.toReversed(), has_more: false } };
  };

  /** Newest first, in pages of at most 10, so that clients must paginate. */
  const list = (query: URLSearchParams): FakeResponse => {
    const matching = [...intents.values()]
      .reverse()
      .filter(({ customer }) => !query.has('customer') || customer === query.get('customer'))
      .filter(({ created }) => created >= Number(query.get('created[gte]') ?? 0))
      .filter(({ created }) => created < Number(query.get('created[lt]') ?? Infinity));
    const after = matching.findIndex(({ id }) => id === query.get('starting_after'));
    const rest = matching.slice(after + 1);
    const data = rest.slice(0, 10).map((intent) => intentResponse(intent, query));
    return { status: 200, body: { object: 'list', data, has_more: rest.length > data.length } };
  };

  /** Responds to a POST to `/v1/<kind>` or `/v1/payment_intents/<name>/confirm`. */
  const write = (path: string, form: URLSearchParams, fault?: FakeStripeFault): FakeResponse => {
    const [, , kind, name = '', action] = path.split('/');
    if (kind === 'refunds') return createRefund(form, fault);
    if (action !== 'confirm') return createIntent(form, fault);
    const intent = intents.get(name);
    return intent === undefined ? missing() : confirm(intent, form);
  };

  /** Processes one request per key; a rejection before processing is not stored. */
  const writeOnce = (
    path: string,
    key: string,
    form: URLSearchParams,
    fault?: FakeStripeFault,
  ): FakeResponse & { replayed: boolean } => {
    const known = resultsByKey.get(key);
    if (known !== undefined && known.form !== form.toString()) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.';
      return { status: 400, body: { error: { type: 'idempotency_error', message } }, replayed: false };
    }
    if (known !== undefined) return { ...known.result, replayed: true };
    const result = write(path, form, fault);
    if (result.status !== 400) resultsByKey.set(key, { form: form.toString(), result });
    return { ...result, replayed: false };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://stripe.example');
    const method = request.method ?? 'GET';
    const form = new URLSearchParams(await text(request));
    const key = request.headers['idempotency-key']?.toString();
    requests.push({ method, path: url.pathname, key, form });
    if (
      url.pathname.endsWith(`/${unresponsivePaymentMethod}`) ||
      form.get('payment_method') === unresponsivePaymentMethod
    )
      return;
    const next = faults.findIndex(({ path }) => path === url.pathname);
    const fault = next === -1 ? undefined : faults.splice(next, 1)[0]?.fault;
    if (fault === 'lost-request') return void request.socket.destroy();
    if (typeof fault === 'object')
      return send(response, { status: fault.status, body: { error: fault.error } });
    if (request.headers.authorization !== `Bearer ${fakeStripeKey}`) {
      const error = { type: 'invalid_request_error', message: 'Invalid API Key provided.' };
      return send(response, { status: 401, body: { error } });
    }
    const result =
      method === 'POST'
        ? writeOnce(url.pathname, key ?? uniqueName('key'), form, fault)
        : read(url.pathname, url.searchParams);
    if (fault === 'lost-response') return void request.socket.destroy();
    if (fault === 'silent') return;
    if (fault === 'dripping') return drip(response);
    if ('replayed' in result && result.replayed) response.setHeader('Idempotent-Replayed', 'true');
    send(response, result);
  };

  const server = createServer((request, response) => {
    void handle(request, response);
  });
  const { port, close } = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    refunds,
    intents: () => [...intents.values()],
    add: (intent: FakeIntent) => void intents.set(intent.id, intent),
    remove: (id: string) => void intents.delete(id),
    /** Adds faults for the next requests to the path, one each. */
    fail: (path: string, ...next: readonly FakeStripeFault[]) =>
      void faults.push(...next.map((fault) => ({ path, fault }))),
    /** Sets the statuses of the next refunds; further ones succeed. */
    refundWith: (...statuses: readonly string[]) => void nextRefundStatuses.push(...statuses),
    /** Sets the statuses of the next charges whose card is not declined; further ones succeed. */
    confirmWith: (...statuses: readonly string[]) => void nextIntentStatuses.push(...statuses),
    /** Makes the search miss new PaymentIntents, as in Stripe's outages. */
    delaySearch: () => {
      searchIsBehind = true;
    },
    /** Sets the customer of all payment methods. */
    attachTo: (customer: string | null) => {
      customerOfMethods = customer;
    },
    /** Sets the account to live mode, which contradicts the prefix of its key, `sk_test_`. */
    setLiveMode: () => {
      livemode = true;
    },
    /** Deletes the idempotency keys, as Stripe may after 24 hours. */
    deleteKeys: () => resultsByKey.clear(),
    stop: close,
  };
}

export type FakeStripe = Awaited<ReturnType<typeof fakeStripe>>;
