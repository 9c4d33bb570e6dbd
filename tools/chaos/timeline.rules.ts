import { serviceNames } from '@fulfilment/contracts/permissions';
import { z } from 'zod';
import { seededRandom } from '../demo/random.ts';

const service = z.enum(serviceNames);
const replica = z.union([z.literal(1), z.literal(2)]);
const atMs = z.number().int().min(0);
const forMs = z.number().int().min(1).max(60_000);

const step = z.discriminatedUnion('action', [
  z.strictObject({ atMs, action: z.literal('kill replica'), service, replica }),
  z.strictObject({ atMs, action: z.literal('freeze replica'), service, replica, forMs }),
  z.strictObject({ atMs, action: z.literal('roll replica'), service, replica }),
  z.strictObject({ atMs, action: z.literal('kill RabbitMQ node'), node: z.number().int().min(1).max(3) }),
  z.strictObject({ atMs, action: z.literal('fail Redis over') }),
  z.strictObject({ atMs, action: z.literal('promote PostgreSQL') }),
  z.strictObject({ atMs, action: z.literal('cut link to PostgreSQL'), service, forMs }),
]);
export type Step = z.infer<typeof step>;

/** Steps in the order of their times. */
export const timeline = z
  .array(step)
  .transform((steps) => steps.toSorted((one, other) => one.atMs - other.atMs));

/** Ranges of random times. */
interface Pace {
  /** From the start of one step to that of the next. */
  readonly intervalMs: { readonly min: number; readonly max: number };
  /** Duration for which a replica is frozen or a link is cut. */
  readonly outageMs: { readonly min: number; readonly max: number };
}
/** Leaves time for the suite to recover before the next step. */
export const usualPace: Pace = {
  intervalMs: { min: 4_000, max: 8_000 },
  outageMs: { min: 3_000, max: 12_000 },
};
/** Outages are longer than the 4 s after which the gateway no longer uses a replica. */
export const shortPace: Pace = {
  intervalMs: { min: 1_000, max: 2_000 },
  outageMs: { min: 4_500, max: 6_000 },
};

/**
 * The steps of a run: every kind once in a random order, even if that takes longer than `minLengthMs`; then
 * random ones until that time. The same seed gives the same steps.
 */
export function seededTimeline(
  seed: number,
  { minLengthMs, pace: { intervalMs, outageMs } }: { readonly minLengthMs: number; readonly pace: Pace },
): Step[] {
  const random = seededRandom(seed);
  const between = ({ min, max }: { min: number; max: number }): number => min + random.below(max - min);
  const randomReplica = () => ({ service: random.pick(serviceNames), replica: random.pick([1, 2] as const) });
  const kinds: ((atMs: number) => Step)[] = [
    (atMs) => ({ atMs, action: 'kill replica', ...randomReplica() }),
    (atMs) => ({ atMs, action: 'freeze replica', ...randomReplica(), forMs: between(outageMs) }),
    (atMs) => ({ atMs, action: 'roll replica', ...randomReplica() }),
    (atMs) => ({ atMs, action: 'kill RabbitMQ node', node: 1 + random.below(3) }),
    (atMs) => ({ atMs, action: 'fail Redis over' }),
    (atMs) => ({ atMs, action: 'promote PostgreSQL' }),
    (atMs) => ({
      atMs,
      action: 'cut link to PostgreSQL',
      service: random.pick(serviceNames),
      forMs: between(outageMs),
    }),
  ];
  const shuffled = kinds
    .map((createStep) => ({ createStep, rank: random.below(1_000_000) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ createStep }) => createStep);
  const steps: Step[] = [];
  for (let atMs = intervalMs.min; shuffled.length > 0 || atMs < minLengthMs; atMs += between(intervalMs)) {
    const createStep = shuffled.shift() ?? kinds[random.below(kinds.length)];
    if (createStep !== undefined) steps.push(createStep(atMs));
  }
  return steps;
}

/** The part of the suite that a step makes partly unavailable. */
export function partOf({ action }: Step): 'replicas' | 'RabbitMQ' | 'Redis' | 'PostgreSQL' {
  switch (action) {
    case 'kill replica':
    case 'freeze replica':
    case 'roll replica':
      return 'replicas';
    case 'kill RabbitMQ node':
      return 'RabbitMQ';
    case 'fail Redis over':
      return 'Redis';
    case 'promote PostgreSQL':
    case 'cut link to PostgreSQL':
      return 'PostgreSQL';
  }
}

/** Describes a step in one line. */
export function describeStep(step: Step): string {
  const { action } = step;
  const details = [
    'service' in step ? step.service : undefined,
    'replica' in step ? `replica ${step.replica}` : undefined,
    'node' in step ? `node ${step.node}` : undefined,
    'forMs' in step ? `for ${(step.forMs / 1_000).toFixed(1)} s` : undefined,
  ].filter((text) => text !== undefined);
  return details.length === 0 ? action : `${action}: ${details.join(', ')}`;
}
