import * as creatorApi from '@fulfilment/client/creator';
import { publicId } from '@fulfilment/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownerEmail } from '../demo/accounts.ts';
import { openCreator } from '../demo/api.ts';
import { Failure } from '../dev/failure.ts';
import { say } from '../dev/output/progress.ts';
import type { Stack } from '../dev/state/stack-file.ts';
import { openReceiver } from '../listen/receiver.ts';
import type { ChaosSuite } from './suite/chaos-suite.ts';
import { initialStock } from './suite/limited-edition.ts';
import {
  compareWithAccepted,
  type LostByRestore,
  nothingLost,
  type ReceivedDelivery,
} from './comparison/compare-with-accepted.ts';
import { type Comparison, describeDifferences } from './comparison/id-comparison.rules.ts';
import { Shopper, signIn } from './shopper.ts';

const webhookSecret = 'chaos-webhook-secret';
const convergenceTimeoutMs = 120_000;
const pollIntervalMs = 1_000;

/** An integration that places orders, and its webhook receiver. */
export type Traffic = Awaited<ReturnType<typeof openTraffic>>;

export async function openTraffic({ context, stack, limitedId }: ChaosSuite) {
  const openedAt = new Date();
  const received: ReceivedDelivery[] = [];
  /** Reasons why deliveries could not be verified. */
  const invalid: string[] = [];
  const receiver = await openReceiver({
    secret: webhookSecret,
    port: 0,
    respond: ({ headers, verification }) => {
      if ('error' in verification) {
        invalid.push(verification.error);
        return { status: 400, delayMs: 0 };
      }
      const { event, data } = verification.event;
      const deliveryId = String(headers['x-service-delivery']);
      received.push({ deliveryId, event, orderId: String(data['order_id']) });
      return { status: 204, delayMs: 0 };
    },
  });
  const integration = {
    limitedSku: publicId('prod', limitedId),
    receiver: receiver.url,
    secret: webhookSecret,
  };
  const shopper = await Shopper.open(stack, integration);
  return {
    shopper,
    received,
    /** Differences, orders that were not accepted, deliveries that could not be verified; with examples. */
    problemsIn: (comparison: Comparison): string[] => [
      ...describeDifferences(comparison),
      ...shopper.rejected.slice(0, 5).map((reason) => `an order was not accepted: ${reason}`),
      ...invalid.slice(0, 5).map((error) => `a delivery could not be verified: ${error}`),
    ],
    compare: async (lost: LostByRestore = nothingLost): Promise<Comparison> => {
      const limited = { productId: limitedId, initialStock };
      const observed = { context, received, limited, soldUnits: await readSoldUnits(stack, openedAt) };
      return compareWithAccepted(shopper.accepted, observed, lost);
    },
    close: async (): Promise<void> => {
      await shopper.close();
      await receiver.stop();
    },
  };
}

/**
 * Repeats the comparison until there is no difference, for two minutes at most.
 * @throws the error of the last comparison, such as a request that failed
 */
export async function compareUntilEqual(compare: () => Promise<Comparison>): Promise<Comparison> {
  const endsAtMs = performance.now() + convergenceTimeoutMs;
  for (;;) {
    try {
      const comparison = await compare();
      if (describeDifferences(comparison).length === 0 || performance.now() > endsAtMs) return comparison;
    } catch (error) {
      if (performance.now() > endsAtMs) throw error;
    }
    await sleep(pollIntervalMs);
  }
}

/** Prints the problems, or `success` if there are none. Returns the exit status. */
export function reportProblems(success: string, problems: readonly string[]): number {
  say(problems.length === 0 ? `\n${success}` : `\nDifferences:\n  ${problems.join('\n  ')}`);
  return problems.length === 0 ? 0 : 1;
}

/** Sums the months of the run: one, or two if it passes midnight (UTC) at the end of a month. */
async function readSoldUnits(stack: Stack, openedAt: Date): Promise<number> {
  const uuid = stack.users.find(({ email }) => email === ownerEmail)?.creators[0]?.uuid;
  if (uuid === undefined) throw new Failure('The demo account has no creator.');
  const client = openCreator(stack, await signIn(stack));
  let units = 0;
  for (const period of new Set([openedAt, new Date()].map((date) => date.toISOString().slice(0, 7)))) {
    const { data } = await creatorApi.readSalesStatistics({ client, path: { uuid }, query: { period } });
    units += data.totals.units;
  }
  return units;
}
