import type { DeliveryStatus, Trigger } from './delivery-state.js';

/** A delivery that only this process may attempt, until its lease ends. */
export interface LeasedDelivery {
  readonly day: string;
  readonly id: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly event: string;
  readonly test: boolean;
  readonly trigger: Trigger;
  /** Number of the attempt, from 1. */
  readonly number: number;
  /** Whether this is the first attempt of a delivery that was not held, recovered or manually retried. */
  readonly isFirst: boolean;
  /** Number of steps of the retry schedule before this attempt. */
  readonly scheduleStep: number;
  /** Number of attempts since the start of the schedule, including this one. A recovery restarts it. */
  readonly attemptsInSchedule: number;
  /** The status before a manual retry; null for other attempts. */
  readonly priorStatus: Exclude<DeliveryStatus, 'in_flight'> | null;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  readonly body: Buffer;
  readonly url: string;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  /** Sealed Ed25519 keys; null without `v1a`. */
  readonly signingKey: Buffer | null;
  readonly previousSigningKey: Buffer | null;
  /** Token of the lease, which all deliveries of a claim have in common. */
  readonly token: string;
  /** In ms of `performance.now()`. An attempt that could end later is not started. */
  readonly leaseEndsAtMs: number;
}
