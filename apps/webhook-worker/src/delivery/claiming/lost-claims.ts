import { type Database, statement } from '@fulfilment/database';
import { setTimeout as delay } from 'node:timers/promises';

const retryIntervalMs = 200;
/** PostgreSQL cancels a statement after 8 s (libs/database), even if its client is gone. */
const maxCommitDelayMs = 10_000;

interface LostClaim {
  /** Time until which the claim may still be committed. */
  readonly mayCommitUntilMs: number;
  readonly leaseEndsAtMs: number;
}

// Restores the attempt count, since no process got the deliveries. The status is again `pending` before a
// first attempt and after the request of a manual retry or recovery. Searches the index of deliveries in
// flight, which are few.
const revertClaims = statement(
  'deliveries.revert-lost-claims',
  `UPDATE webhook_deliveries SET
     status = CASE WHEN attempt_count = 1 OR prior_status IS NOT NULL OR trigger = 'recover' THEN 'pending' ELSE 'retrying' END,
     attempt_count = attempt_count - 1, next_attempt_at = now(), lease_token = NULL, lease_until = NULL
   WHERE status = 'in_flight' AND lease_until > now() AND lease_token = ANY($1::uuid[])`,
);

/**
 * The response to a claim was lost with its connection, so the claim may be committed. Reverts such claims
 * every 200 ms, until no commit is possible any more. A claim that is not reverted before its lease ends
 * counts as lost attempts (expire-leases.ts).
 */
export class LostClaims {
  /** By lease token. */
  private readonly claims = new Map<string, LostClaim>();
  private isReverting = false;

  constructor(private readonly database: Pick<Database, 'run'>) {}

  /** @param leaseEndsAtMs in ms of `performance.now()` */
  revert(token: string, leaseEndsAtMs: number): void {
    this.claims.set(token, { mayCommitUntilMs: performance.now() + maxCommitDelayMs, leaseEndsAtMs });
    if (!this.isReverting) void this.revertAll();
  }

  private async revertAll(): Promise<void> {
    this.isReverting = true;
    while (this.claims.size > 0) {
      await delay(retryIntervalMs, undefined, { ref: false });
      const nowMs = performance.now();
      const tokens = [...this.claims.keys()];
      const areReverted = await this.database.run(revertClaims, [tokens]).then(
        () => true,
        () => false,
      );
      for (const [token, { mayCommitUntilMs, leaseEndsAtMs }] of this.claims)
        if ((areReverted && mayCommitUntilMs <= nowMs) || leaseEndsAtMs <= nowMs) this.claims.delete(token);
    }
    this.isReverting = false;
  }
}
