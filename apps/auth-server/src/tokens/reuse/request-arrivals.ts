import { Attached } from '@fulfilment/runtime';
import type { IncomingMessage } from 'node:http';
import { type Arrival, computeArrival } from './reuse.rules.js';

const arrivals = new Attached<Arrival>();

/** Records when a request arrived. mount.ts calls it before anything asynchronous. */
export function recordArrival(request: IncomingMessage): void {
  arrivals.set(request, computeArrival(Date.now(), request.headers['x-connection-age']));
}

/** Returns when a request arrived; undefined for one that did not come through mount.ts. */
export function arrivalOf(request: object): Arrival | undefined {
  return arrivals.get(request);
}
