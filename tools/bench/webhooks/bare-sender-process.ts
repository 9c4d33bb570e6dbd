import { request } from 'undici';
import { Failure } from '../../dev/failure.ts';
import { measureWork, type Sample } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { type DeliveringWorker, deliveriesPerSample, copiesOfEvent } from './delivering-worker.ts';
import type { ReceiverProcess } from './receiver-process.ts';

/** More than the worker sends, since the system reports processor time in steps of 10 ms. */
const bareDeliveriesPerSample = 4 * deliveriesPerSample;

/** Starts the process of bare-sender.ts. */
export async function startBareSender(receiver: ReceiverProcess) {
  const server = ServedProcess.script('webhooks/bare-sender.ts');
  const origin = await server.origin();
  return {
    /** Signs and posts bodies like those of the worker, to the same subscribers. */
    send: async (worker: DeliveringWorker): Promise<Sample> => {
      const sampleBody = await worker.data.sampleBody();
      const events = copiesOfEvent(sampleBody, bareDeliveriesPerSample, worker.subscribers);
      const deliveries = events.map(({ body, subscriber }) => ({ path: subscriber.path, body }));
      await call(origin, 'PUT', JSON.stringify({ origin: receiver.origin, deliveries }));
      const sample = await measureWork(bareDeliveriesPerSample, server, () => call(origin, 'POST'));
      await receiver.takeExactly(events);
      return sample;
    },
    stop: () => server.stop(),
  };
}

async function call(origin: string, method: 'PUT' | 'POST', body?: string): Promise<void> {
  const response = await request(origin, { method, ...(body === undefined ? {} : { body }) });
  const text = await response.body.text();
  if (response.statusCode !== 204) throw new Failure(`The bare sender failed: ${text}`);
}
