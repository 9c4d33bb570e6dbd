import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../dev/output/progress.ts';
import type { Settings } from '../dev/settings.ts';
import { type ChaosSuite, type Cleanups, inChaosSuite } from './suite/chaos-suite.ts';
import { runStep, type Targets } from './faults.ts';
import { repairAndMeasureLoss } from './comparison/loss.ts';
import { effectOf, formatEffects, type StepTimes } from './recovery.rules.ts';
import { type Comparison, formatComparison } from './comparison/id-comparison.rules.ts';
import { replicaNumbers } from './suite/context.ts';
import { describeStep, partOf, type Step } from './timeline.rules.ts';
import { compareUntilEqual, openTraffic, reportProblems, type Traffic } from './traffic.ts';

const rollRounds = 3;
/** Consumers of messages come before their publishers (docs/deploying.md). */
const rollOutOrder = ['webhook-worker', 'creator-api', 'store-api', 'auth-server'] as const;
/** Orders are placed for this time after the last fault. */
const afterFaultsMs = 5_000;
/** The longest time in which the services agree after a loss. */
const lossTimeoutMs = 60_000;
const pollIntervalMs = 2_000;

interface ChaosOptions {
  readonly orders: number;
  readonly perSecond: number;
  readonly steps: readonly Step[];
  /** Whether faults of different parts overlap. Otherwise at most one part fails at a time. */
  readonly isConcurrent: boolean;
  /** Whether replicas are rolled instead of `steps`. Then only closed connections may fail. */
  readonly isRolling: boolean;
  /** Whether a commit waits for the standby. If not, a promotion loses commits, and the loss is reported. */
  readonly isSynchronous: boolean;
}

/** Returns the exit status. */
export function runChaos(settings: Settings, options: ChaosOptions): Promise<number> {
  return inChaosSuite(settings, options, (suite, cleanups) => {
    writeFileSync(join(settings.stateDir, 'timeline.json'), `${JSON.stringify(options.steps, null, 2)}\n`);
    return runAndCompare(suite, options, cleanups);
  });
}

/** Places orders during the faults, then compares and prints what each part has. Returns the exit status. */
async function runAndCompare(suite: ChaosSuite, options: ChaosOptions, cleanups: Cleanups): Promise<number> {
  const { targets } = suite;
  const traffic = await openTraffic(suite);
  cleanups.push(() => traffic.close());
  const { shopper, received } = traffic;
  const ended = new AbortController();
  say(`\n${options.orders} orders or more, ${options.perSecond.toFixed(0)} a second.\n`);
  const startedAtMs = performance.now();
  const placing = shopper.placeOrders({
    minCount: options.orders,
    perSecond: options.perSecond,
    ended: ended.signal,
  });
  const runSteps = async (): Promise<StepTimes[]> => {
    try {
      return await (options.isRolling ? rollAll(targets) : followTimeline(options, targets, startedAtMs));
    } finally {
      await sleep(afterFaultsMs);
      ended.abort();
    }
  };
  const [times] = await Promise.all([runSteps(), placing]);
  const placingEndedAtMs = performance.now();

  for (const line of formatEffects(
    times.map((step, index) => effectOf(step, times[index + 1]?.fromMs ?? Infinity, shopper)),
  ))
    say(line);
  say(`\n${shopper.accepted.length} orders in ${((placingEndedAtMs - startedAtMs) / 1_000).toFixed(0)} s.`);
  if (!options.isSynchronous) return reportLoss(suite, traffic);
  const comparison = await compareUntilEqual(() => traffic.compare());
  say(`Compared ${((performance.now() - placingEndedAtMs) / 1_000).toFixed(0)} s after the last order.\n`);
  for (const line of formatComparison(comparison)) say(line);
  const repeated = received.length - new Set(received.map(({ deliveryId }) => deliveryId)).size;
  say(`\nDeliveries that were sent again with the same id, which is allowed: ${repeated}`);
  return reportComparison(comparison, traffic, options);
}

/**
 * Repeats repairs until the services agree and no webhook is missing, or a timeout. Prints what is lost.
 * Returns the exit status, which missing webhooks do not change.
 */
async function reportLoss(suite: ChaosSuite, traffic: Traffic): Promise<number> {
  const endsAtMs = performance.now() + lossTimeoutMs;
  const { accepted } = traffic.shopper;
  let loss = await repairAndMeasureLoss(suite, accepted, traffic.received);
  while ((loss.differences.length > 0 || loss.undelivered > 0) && performance.now() < endsAtMs) {
    await sleep(pollIntervalMs);
    loss = await repairAndMeasureLoss(suite, accepted, traffic.received);
  }
  for (const line of loss.lines) say(line);
  say(
    loss.differences.length === 0
      ? '\nThe services agree about the orders that are left.'
      : `\nThe services do not agree: ${loss.differences.join(', ')}`,
  );
  return loss.differences.length === 0 ? 0 : 1;
}

/** Prints the differences. Returns the exit status. */
function reportComparison(
  comparison: Comparison,
  traffic: Traffic,
  { isRolling }: Pick<ChaosOptions, 'isRolling'>,
): number {
  const { failedAttempts } = traffic.shopper;
  // A reload of nginx before 1.27.4 closes idle connections, even if a request is on its way.
  const failed = failedAttempts.filter(({ reason }) => reason !== 'UND_ERR_SOCKET');
  const counts = new Map<string, number>();
  for (const { reason } of failedAttempts) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  say(
    `Failed attempts, which were repeated: ${[...counts].map(([reason, count]) => `${count} × ${reason}`).join(', ') || 'none'}`,
  );
  const failures =
    isRolling && failed.length > 0 ? [`${failed.length} requests failed during roll-outs`] : [];
  return reportProblems('Nothing was lost or doubled.', [...traffic.problemsIn(comparison), ...failures]);
}

/**
 * Runs each step when it is due and the previous one has ended. With `isConcurrent`, it waits only for the
 * previous step of the same part.
 */
async function followTimeline(
  { steps, isConcurrent }: Pick<ChaosOptions, 'steps' | 'isConcurrent'>,
  targets: Targets,
  startedAtMs: number,
): Promise<StepTimes[]> {
  const times: StepTimes[] = [];
  const runInOrder = async (sequence: readonly Step[]): Promise<void> => {
    for (const step of sequence) {
      await sleep(Math.max(0, startedAtMs + step.atMs - performance.now()));
      const fromMs = performance.now();
      const name = describeStep(step);
      say(`  ${((fromMs - startedAtMs) / 1_000).toFixed(1).padStart(6)} s  ${name}`);
      let availableAtMs = Infinity;
      await runStep(step, targets, () => (availableAtMs = performance.now()));
      times.push({ name, fromMs, restoredAtMs: Math.min(availableAtMs, performance.now()) });
    }
  };
  const sequences = isConcurrent ? [...Map.groupBy(steps, partOf).values()] : [steps];
  await Promise.all(sequences.map(runInOrder));
  return times.toSorted((one, other) => one.fromMs - other.fromMs);
}

/** Rolls every replica, one after another, in three rounds. */
async function rollAll({ replicas }: Targets): Promise<StepTimes[]> {
  const times: StepTimes[] = [];
  for (let round = 1; round <= rollRounds; round += 1)
    for (const service of rollOutOrder)
      for (const replica of replicaNumbers) {
        const fromMs = performance.now();
        await replicas.roll(service, replica);
        times.push({
          name: `roll ${round}: ${service}, replica ${replica}`,
          fromMs,
          restoredAtMs: performance.now(),
        });
      }
  return times;
}
