import { isTracing, startTrace, type Trace, WorkContext } from '@fulfilment/runtime';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const wellFormedId = /^[\w.:/+=-]{1,128}$/;

/** Creates the context of a request, and sets `X-Request-Id`: the client's if well formed, else a new one. */
export function createRequestContext(request: IncomingMessage, response: ServerResponse): WorkContext {
  const { 'x-request-id': requested, traceparent } = request.headers;
  const id = typeof requested === 'string' && wellFormedId.test(requested) ? requested : randomUUID();
  response.setHeader('X-Request-Id', id);
  const received = typeof traceparent === 'string' ? traceparent : undefined;
  return new WorkContext(
    { request_id: id },
    received,
    isTracing() ? startRequestTrace(request, id, received) : undefined,
  );
}

/** Starts the span of a request, named by its method: its route is known only at the end. */
function startRequestTrace({ method = '', url = '' }: IncomingMessage, id: string, received?: string): Trace {
  if (url.includes('/health/')) return 'unsampled';
  const attributes = { 'http.request.method': method };
  return startTrace(
    { name: method, kind: 'server', attributes },
    { received, originId: id, isTrusted: false },
  );
}
