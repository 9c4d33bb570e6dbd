import { uniqueName } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';

/** The members of a PaymentIntent that we use. Amounts in minor units, times in seconds. */
export interface FakeIntent {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly customer: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  status: string;
  last_payment_error: object | null;
  latest_charge: { readonly id: string; readonly object: 'charge'; created: number } | null;
}

export interface FakeRefund {
  readonly id: string;
  readonly object: 'refund';
  readonly payment_intent: string;
  status: string;
}

export interface FakeResponse {
  readonly status: number;
  readonly body: object;
}

/** Returns a PaymentIntent. `latest_charge` is an id unless `query` expands it (docs.stripe.com/expand). */
export function intentResponse(intent: FakeIntent, query?: URLSearchParams): object {
  const expand = query?.get('expand[0]');
  const expanded = expand === 'latest_charge' || expand === 'data.latest_charge';
  const charge = intent.latest_charge;
  return { ...intent, latest_charge: expanded && charge !== null ? { ...charge } : (charge?.id ?? null) };
}

/** Returns the members of `metadata` in a form. */
export function metadataOf(form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const member = /^metadata\[(\w+)\]$/.exec(name)?.[1];
      return member === undefined ? [] : [[member, value]];
    }),
  );
}

export function foundOrMissing(object: object | undefined): FakeResponse {
  return object === undefined ? missing() : { status: 200, body: { ...object } };
}

export function invalid(code: string, param?: string): FakeResponse {
  const error = { type: 'invalid_request_error', code, param, message: `Rejected: ${code}.` };
  return { status: 400, body: { error } };
}

export function missing(): FakeResponse {
  const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object.' };
  return { status: 404, body: { error } };
}

/** The response to a request that Stripe failed to process. */
export function broken(): FakeResponse {
  return { status: 500, body: { error: { type: 'api_error', message: 'Something went wrong.' } } };
}

export function send(response: ServerResponse, { status, body }: FakeResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': uniqueName('req') });
  response.end(JSON.stringify(body));
}

/** Sends an endless response, one byte every 20 ms. */
export function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}
