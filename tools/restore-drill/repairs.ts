import { parsePublicId } from '@fulfilment/contracts';
import type { ServiceName } from '@fulfilment/contracts/permissions';
import { z } from 'zod';
import type { LostByRestore } from '../chaos/comparison/compare-with-accepted.ts';
import { say } from '../dev/output/progress.ts';
import { runSql } from '../dev/run-sql.ts';
import { adminUrlOf, type ChaosContext, operatorAccessOf } from '../chaos/suite/context.ts';
import { operate } from '../ops/operate.ts';
import { rebuildCreatorApi } from '../ops/rebuild-creator-api.ts';

const reconciled = z.object({
  findings: z.array(z.object({ kind: z.string(), charge_id: z.string() })),
});

/** Runs the repairs after the restore of a service's database (docs/runbook.md). Returns what is wrong. */
export async function repair(
  service: ServiceName,
  {
    context,
    target,
    lost,
  }: {
    readonly context: ChaosContext;
    readonly target: Date;
    readonly lost: LostByRestore;
  },
): Promise<string[]> {
  switch (service) {
    case 'creator-api': {
      const rebuilt = await rebuildCreatorApi(operatorAccessOf(context));
      say(`ops creator rebuild: ${JSON.stringify(rebuilt)}`);
      return [];
    }
    case 'store-api': {
      const since = ['--since', target.toISOString()];
      const result = await operate(operatorAccessOf(context), service, ['payments', 'reconcile', ...since]);
      const { findings } = reconciled.parse(result);
      const unknown = findings.filter(({ kind }) => kind === 'unknown_payment');
      say(
        `ops payments reconcile: ${unknown.length} payments without a charge, for ${lost.orders.size} lost orders`,
      );
      return findings.length === unknown.length
        ? comparePayments(context, { unknown: unknown.map((finding) => finding.charge_id), lost })
        : [`payments reconcile found ${findings.length - unknown.length} differences of another kind`];
    }
    default:
      return []; // the runbook has no command that repairs the other two services as a whole
  }
}

/** Returns a problem unless the payments without a charge are those of the lost orders. */
async function comparePayments(
  context: ChaosContext,
  { unknown, lost }: { readonly unknown: readonly string[]; readonly lost: LostByRestore },
): Promise<string[]> {
  // A real provider keeps its payments, so compare-databases.ts has copied those of the sandbox into the
  // restored database.
  const rows = await runSql(
    adminUrlOf('store-api', context),
    'SELECT idempotency_key AS charge, order_id AS id FROM sandbox_charges',
  );
  const expected = rows
    .filter(({ id }) => lost.orders.has(parsePublicId('ord', String(id)) ?? ''))
    .map(({ charge }) => String(charge))
    .toSorted()
    .join();
  return expected === unknown.toSorted().join()
    ? []
    : ['payments reconcile did not find exactly the payments of the lost orders'];
}
