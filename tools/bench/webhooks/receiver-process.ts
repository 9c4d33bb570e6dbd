import { errors, request } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { ServedProcess } from '../served-process.ts';

const timeoutMs = 120_000;

const received = z.array(
  z.object({
    path: z.string(),
    /** Time since 1970 at which the head of the request had been read. */
    arrivedAtMs: z.number(),
    deliveryId: z.string(),
    signed: z.boolean(),
    envelope: z.object({ id: z.string(), api_version: z.string(), created_at: z.string() }).loose(),
  }),
);
export type Received = z.output<typeof received>[number];

/** A delivery that must arrive. */
export interface ExpectedDelivery {
  readonly eventId: string;
  readonly path: string;
}

/** The process of receiver.ts, which receives the deliveries of all subscribers. */
export class ReceiverProcess {
  readonly origin: string;
  private readonly process: ServedProcess;

  static async start(): Promise<ReceiverProcess> {
    const process = ServedProcess.script('webhooks/receiver.ts');
    return new ReceiverProcess(await process.origin(), process);
  }

  private constructor(origin: string, process: ServedProcess) {
    this.origin = origin;
    this.process = process;
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
   * Returns the deliveries since the last `take`.
   * @throws Failure unless each expected delivery arrived exactly once, with a valid signature
   */
  async takeExactly(expected: readonly ExpectedDelivery[]): Promise<Received[]> {
    const all = await this.take();
    const keys = new Set(all.map(({ envelope, path }) => `${envelope.id} ${path}`));
    const missing = expected.filter(({ eventId, path }) => !keys.has(`${eventId} ${path}`)).length;
    const unsigned = all.filter(({ signed }) => !signed).length;
    const deliveries = new Set(all.map(({ deliveryId }) => deliveryId)).size;
    const counts = { expected: expected.length, received: all.length, deliveries, missing, unsigned };
    if (all.length !== expected.length || deliveries !== all.length || missing > 0 || unsigned > 0)
      throw new Failure(`The receiver did not get what was sent: ${JSON.stringify(counts)}`);
    return all;
  }

  /** Returns the deliveries since the last `take`. */
  async take(): Promise<Received[]> {
    const response = await request(`${this.origin}/deliveries`);
    return received.parse(await response.body.json());
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}
