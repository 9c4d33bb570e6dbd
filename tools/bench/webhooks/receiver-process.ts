import { publicId } from '@fulfilment/contracts';
import { errors, request } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { ServedProcess } from '../served-process.ts';
import type { SentEvent } from './webhook-data.ts';

const timeoutMs = 120_000;

const received = z.array(
  z.object({
    path: z.string(),
    /** Time since 1970 at which the head of the request had been read. */
    arrivedAtMs: z.number(),
    deliveryId: z.string(),
    /** Whether its signature is valid. */
    signed: z.boolean(),
    envelope: z.object({
      id: z.string(),
      created_at: z.string(),
      data: z.object({ order_id: z.string() }),
    }),
  }),
);
export type Received = z.output<typeof received>[number];

/** The process of receiver.ts, which receives the deliveries of all subscribers. */
export class ReceiverProcess {
  readonly origin: string;
  private readonly server: ServedProcess;

  static async start(): Promise<ReceiverProcess> {
    const server = ServedProcess.script('webhooks/receiver.ts');
    return new ReceiverProcess(await server.origin(), server);
  }

  private constructor(origin: string, server: ServedProcess) {
    this.origin = origin;
    this.server = server;
  }

  /** Resolves when `count` deliveries have arrived since the last `take`. */
  async waitForDeliveries(count: number): Promise<void> {
    const { body } = await request(`${this.origin}/when?count=${count}`, {
      headersTimeout: timeoutMs,
    }).catch((error: unknown) => {
      throw error instanceof errors.HeadersTimeoutError
        ? new Failure(`Not all of ${count} deliveries arrived within ${timeoutMs / 1_000} s.`)
        : error;
    });
    await body.dump();
  }

  /**
   * Deletes the deliveries since the last `take`.
   * @throws Failure unless each event arrived exactly once at its subscriber, with a valid signature
   */
  async takeExactly(sent: readonly SentEvent[]): Promise<void> {
    const all = await this.take();
    const keys = new Set(all.map(({ envelope, path }) => `${envelope.id} ${path}`));
    const missing = sent.filter(
      ({ id, subscriber }) => !keys.has(`${publicId('evt', id)} ${subscriber.path}`),
    ).length;
    const unsigned = all.filter(({ signed }) => !signed).length;
    const deliveries = new Set(all.map(({ deliveryId }) => deliveryId)).size;
    const counts = { sent: sent.length, received: all.length, deliveries, missing, unsigned };
    if (all.length !== sent.length || deliveries !== all.length || missing > 0 || unsigned > 0)
      throw new Failure(`The receiver did not get what was sent: ${JSON.stringify(counts)}`);
  }

  /** Returns the deliveries since the last `take`, which the receiver then deletes. */
  async take(): Promise<Received[]> {
    const response = await request(`${this.origin}/deliveries`);
    return received.parse(await response.body.json());
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
