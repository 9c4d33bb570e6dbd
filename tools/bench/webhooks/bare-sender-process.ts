import { publicId } from '@fulfilment/contracts';
import { request } from 'undici';
import { Failure } from '../../dev/failure.ts';
import { type Part, measurePart } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { type DeliveringWorker, deliveriesPerPart, writtenEvents } from './delivering-worker.ts';
import type { ReceiverProcess } from './receiver-process.ts';

/** It sends more than the worker does, since the system reports processor time in steps of 10 ms. */
const perBarePart = 4 * deliveriesPerPart;

/** The process of the baseline. */
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
  async send(worker: DeliveringWorker): Promise<Part> {
    const events = writtenEvents(await worker.data.sampleBody(), perBarePart, (index) =>
      worker.subscriberAt(index),
    );
    const deliveries = events.map(({ body, subscriber }) => ({ path: subscriber.path, body }));
    await this.request('PUT', JSON.stringify({ origin: this.receiver.origin, deliveries }));
    const part = await measurePart(
      perBarePart,
      () => this.process.cpuMs(),
      () => this.request('POST'),
    );
    await this.receiver.takeExactly(
      events.map(({ id, subscriber }) => ({ eventId: publicId('evt', id), path: subscriber.path })),
    );
    return part;
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
