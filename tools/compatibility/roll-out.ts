import type { ServiceName } from '@fulfilment/contracts/permissions';
import { reasonOf } from '../dev/failure.ts';

/** Steps of a roll-out in a suite that runs the last release. */
interface RollOutSuite {
  /** Runs the migrations of the new release. */
  migrate(service: ServiceName): Promise<void>;
  /** Replaces the process of the last release by one of the new release. */
  replace(service: ServiceName): Promise<void>;
  /** Runs a change under load, and some seconds more. @throws when an order or a webhook is missing */
  underLoad(change: () => Promise<void>): Promise<void>;
}

/** Failures by column of the table. */
export interface RollOutOutcome {
  /** The last release on the schema of the new one. */
  readonly schema: string[];
  /** The new release with the last release of the other services. */
  readonly mixed: string[];
}

/**
 * Rolls services out, one after another and under load, as `docs/deploying.md` says: migrations first, then
 * processes. Ends after a service that fails, since later services would show the same failure.
 *
 * @returns the outcomes of the services that it reached
 */
export async function rollOut(
  services: readonly ServiceName[],
  suite: RollOutSuite,
): Promise<Map<ServiceName, RollOutOutcome>> {
  const outcomes = new Map<ServiceName, RollOutOutcome>();
  for (const service of services) {
    const schema = await failuresOf(() => suite.underLoad(() => suite.migrate(service)));
    const mixed = await failuresOf(() => suite.underLoad(() => suite.replace(service)));
    outcomes.set(service, { schema, mixed });
    if (schema.length + mixed.length > 0) break;
  }
  return outcomes;
}

async function failuresOf(work: () => Promise<void>): Promise<string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [reasonOf(error)];
  }
}
