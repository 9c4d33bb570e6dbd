import { nextTraceparent, withRequestContext } from '@fulfilment/runtime';
import type { NextFunction, Request, Response } from 'express';
import { randomUUID } from 'node:crypto';

const wellFormed = /^[\w.:/+=-]{1,128}$/;

/** Every answer carries `X-Request-Id`: the caller's when it is well formed, else a new one. All work of the request runs in its context. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && wellFormed.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  withRequestContext({ requestId: id, traceparent: nextTraceparent(request.get('traceparent')) }, next);
}
