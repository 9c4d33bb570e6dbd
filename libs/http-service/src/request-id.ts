import { inContext, WorkContext } from '@fulfilment/runtime';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const wellFormed = /^[\w.:/+=-]{1,128}$/;

/**
 * Runs a request in its context, and adds `X-Request-Id` to its response: the client's if it is well-formed,
 * else a new one.
 */
export function inRequestContext(
  request: IncomingMessage,
  response: ServerResponse,
  handle: () => void,
): void {
  const { 'x-request-id': requested, traceparent } = request.headers;
  const id = typeof requested === 'string' && wellFormed.test(requested) ? requested : randomUUID();
  response.setHeader('X-Request-Id', id);
  inContext(new WorkContext({ request_id: id }, single(traceparent)), handle);
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
