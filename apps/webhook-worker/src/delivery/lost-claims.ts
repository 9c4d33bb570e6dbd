import { type Database, statement } from '@fulfilment/database';
import { setTimeout as delay } from 'node:timers/promises';

const tryEveryMs = 200;
/** PostgreSQL ends a statement after 8 s (libs/database), also one that nobody waits for any more. */
const onItsWayMs = 10_000;

interface Lost {
  /** Until then the claim may still be committed. */
  readonly onItsWayUntilMs: number;
  readonly leaseEndsAtMs: number;
}

// They become as if never claimed: no process knows of them, so none has begun the attempt. They are found among what is in flight, which is little.
const free = statement(
  'deliveries.free-lost-claims',
  `UPDATE webhook_deliveries SET status = CASE WHEN attempt_count = 1 THEN 'pending' ELSE 'retrying' END, attempt_count = attempt_count - 1,
     next_attempt_at = now(), lease_token = NULL, lease_until = NULL
   WHERE status = 'in_flight' AND lease_until > now() AND lease_token = ANY($1::uuid[])`,
);

/**
 * Claims whose answers were lost with the connection. Which deliveries they leased is not known, but their token is: what bears it is freed when
 * PostgreSQL answers again, for as long as the claim may still be committed. What is not freed by the end of its lease counts as lost (lease.ts).
 */
export class LostClaims {
  private readonly tokens = new Map<string, Lost>();
  private working: Promise<void> | undefined;

  constructor(private readonly database: Pick<Database, 'run'>) {}

  /** @param leaseEndsAtMs on performance.now()'s clock */
  free(token: string, leaseEndsAtMs: number): void {
    this.tokens.set(token, { onItsWayUntilMs: performance.now() + onItsWayMs, leaseEndsAtMs });
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
  }

  private async work(): Promise<void> {
    while (this.tokens.size > 0) {
      await delay(tryEveryMs, undefined, { ref: false });
      const now = performance.now();
      const tokens = [...this.tokens.keys()];
      const isFreed = await this.database.run(free, [tokens]).then(
        () => true,
        () => false,
      );
      for (const [token, { onItsWayUntilMs, leaseEndsAtMs }] of this.tokens)
        if ((isFreed && onItsWayUntilMs <= now) || leaseEndsAtMs <= now) this.tokens.delete(token);
    }
  }
}
