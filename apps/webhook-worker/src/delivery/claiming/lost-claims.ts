import { type Database, statement } from '@fulfilment/database';
import { setTimeout as delay } from 'node:timers/promises';

const retryIntervalMs = 200;
/** PostgreSQL cancels a statement after 8 s (libs/database), even if its client is gone. */
const commitTimeoutMs = 10_000;

interface LostClaim {
  /** Time until which the claim may still be committed. */
  readonly mayCommitUntilMs: number;
  readonly leaseEndsAtMs: number;
}

// Makes the deliveries due again and takes back the attempt number: no process got them, so none has made the
// attempt. Searches the index of deliveries in flight, which are few.
const revertClaims = statement(
  'deliveries.free-lost-claims',
  `UPDATE webhook_deliveries SET status = CASE WHEN attempt_count = 1 THEN 'pending' ELSE 'retrying' END, attempt_count = attempt_count - 1,
     next_attempt_at = now(), lease_token = NULL, lease_until = NULL
   WHERE status = 'in_flight' AND lease_until > now() AND lease_token = ANY($1::uuid[])`,
);

/**
 * Frees the deliveries of claims whose response was lost with the connection, by their lease token: as soon
 * as PostgreSQL responds, and repeatedly until the claim can no longer be committed. A delivery that is not
 * freed before its lease ends counts as a lost attempt (expire-leases.ts).
 */
export class LostClaims {
  /** By lease token. */
  private readonly claims = new Map<string, LostClaim>();
  private isWorking = false;

  constructor(private readonly database: Pick<Database, 'run'>) {}

  /** @param leaseEndsAtMs in ms of `performance.now()` */
  free(token: string, leaseEndsAtMs: number): void {
    this.claims.set(token, { mayCommitUntilMs: performance.now() + commitTimeoutMs, leaseEndsAtMs });
    if (!this.isWorking) void this.work();
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    while (this.claims.size > 0) {
      await delay(retryIntervalMs, undefined, { ref: false });
      const nowMs = performance.now();
      const tokens = [...this.claims.keys()];
      const isFreed = await this.database.run(revertClaims, [tokens]).then(
        () => true,
        () => false,
      );
      for (const [token, { mayCommitUntilMs, leaseEndsAtMs }] of this.claims)
        if ((isFreed && mayCommitUntilMs <= nowMs) || leaseEndsAtMs <= nowMs) this.claims.delete(token);
    }
    this.isWorking = false;
  }
}
