import { publicId } from '@fulfilment/contracts';
import { request } from 'undici';
import { Failure } from '../../dev/failure.ts';
import { measureWork, type Sample } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { type DeliveringWorker, deliveriesPerSample, copiesOfEvent } from './delivering-worker.ts';
import type { ReceiverProcess } from './receiver-process.ts';

/** More than the worker sends, since the system reports processor time in steps of 10 ms. */
const bareDeliveriesPerSample = 4 * deliveriesPerSample;

/** The process of bare-sender.ts. */
export class BareSender {
  private readonly origin: string;
  private readonly process: ServedProcess;
  private readonly receiver: ReceiverProcess;

  static async start(receiver: ReceiverProcess): Promise<BareSender> {
    const process = ServedProcess.script('webhooks/bare-sender.ts');
    return new BareSender(await process.origin(), process, receiver);
  }

  private constructor(origin: string, process: ServedProcess, receiver: ReceiverProcess) {
    this.origin = origin;
    this.process = process;
    this.receiver = receiver;
  }

  /** Signs and posts bodies like those of the worker, to the same subscribers. */
  async send(worker: DeliveringWorker): Promise<Sample> {
    const events = copiesOfEvent(await worker.data.sampleBody(), bareDeliveriesPerSample, (index) =>
      worker.subscriberAt(index),
    );
    const deliveries = events.map(({ body, subscriber }) => ({ path: subscriber.path, body }));
    await this.request('PUT', JSON.stringify({ origin: this.receiver.origin, deliveries }));
    const sample = await measureWork(
      bareDeliveriesPerSample,
      () => this.process.cpuMs(),
      () => this.request('POST'),
    );
    await this.receiver.takeExactly(
      events.map(({ id, subscriber }) => ({ eventId: publicId('evt', id), path: subscriber.path })),
    );
    return sample;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  private async request(method: 'PUT' | 'POST', body?: string): Promise<void> {
    const response = await request(this.origin, { method, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    if (response.statusCode !== 204) throw new Failure(`The bare sender failed: ${text}`);
  }
}
