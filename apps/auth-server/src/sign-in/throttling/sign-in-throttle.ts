import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type AuthServerSettings } from '../../config.js';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { clientNetwork, type Quota } from '@fulfilment/http-service';
import { Counter } from '@fulfilment/runtime';
import { Database, type Transaction } from '@fulfilment/database';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEntry, Origin } from '../../audit/audit-log.js';
import { type CheckResult, nothingToVerify } from '../../second-factor/check-result.js';
import { countEvent } from '../../audit/counted-records.js';
import { type GuessOutcome, GuessCounts } from './guess-counts.js';
import {
  delayDecision,
  isStricter,
  limitDecision,
  networkLimit,
  type GuessDecision,
} from './guess-limits.rules.js';
import type { CountedNetwork, GuessTarget } from './guess-target.rules.js';

/** Maximum time that a guess waits for the results of others. After it, the guess is locked for a second. */
const waitTimeoutMs = 10_000;
const firstPollMs = 25;
const maxPollMs = 400;
/** Maximum number of guesses of this process that wait for others; further guesses get 503. */
const maxWaiting = 64;

const lockedAttempts = new Counter({
  name: 'sign_in_locked_attempts_total',
  help: 'Password and code attempts that were rejected without verification, by the scope that had too many failures.',
  labelNames: ['by'],
});

/** `locked`: too many earlier guesses failed, so this one was not verified. */
export type Guess<Result> =
  | { readonly kind: 'wrong' | 'nothing to verify' }
  | { readonly kind: 'locked'; readonly waitSeconds: number }
  | { readonly kind: 'correct'; readonly result: Result };

type FinalDecision = Exclude<GuessDecision, { kind: 'wait' }>;

/** Origin of a guess, and its audit record if it is locked. */
interface GuessContext {
  readonly origin: Origin;
  readonly auditIfLocked: AuditEntry;
}

/** Limits the guesses at passwords and codes (ADR 29). */
@Injectable()
export class SignInThrottle {
  private waiting = 0;
  private readonly failures: Quota;

  constructor(
    private readonly database: Database,
    private readonly counts: GuessCounts,
    @Inject(CONFIG) config: Pick<AuthServerSettings, 'SIGN_IN_FAILURES'>,
  ) {
    this.failures = config.SIGN_IN_FAILURES;
  }

  /**
   * Verifies a guess unless too many have failed. If concurrent guesses could exhaust the limit, it waits for
   * their results. A guess does not count if `check` throws or finds nothing to verify.
   * @throws ServiceUnavailable when too many guesses are waiting
   */
  async guess<Result>(
    target: GuessTarget,
    context: GuessContext,
    check: () => Promise<CheckResult<Result>>,
  ): Promise<Guess<Result>> {
    const decision = await this.beginOrWait(target, context);
    if (decision.kind === 'locked') return decision;
    let outcome: GuessOutcome = 'unknown';
    try {
      const result = await check();
      if (result === nothingToVerify) return { kind: 'nothing to verify' };
      outcome = result === undefined ? 'wrong' : 'correct';
      return result === undefined ? { kind: 'wrong' } : { kind: 'correct', result };
    } finally {
      await this.counts.end({
        subjects: subjectsOf(target),
        resetByCorrect: target.narrowest,
        outcome,
        windowSeconds: this.failures.windowSeconds,
      });
    }
  }

  /** An account that signs in from a network raises the network's limit for a day. */
  async recordSignIn(address: string, userId: string): Promise<void> {
    const { network, widerNetwork } = clientNetwork(address);
    await this.counts.recordSignIn(widerNetwork === undefined ? [network] : [network, widerNetwork], userId);
  }

  /**
   * Begins a guess, unless it is locked. While guesses in progress could exhaust the limit, waits for their
   * results first.
   */
  private async beginOrWait(target: GuessTarget, context: GuessContext): Promise<FinalDecision> {
    const decision = await this.beginIfFree(target, context);
    if (decision.kind !== 'wait') return decision;
    if (this.waiting >= maxWaiting) throw new ServiceUnavailable('Too many people are signing in at once.');
    this.waiting += 1;
    try {
      return await this.pollUntilFree(target, context);
    } finally {
      this.waiting -= 1;
    }
  }

  private async pollUntilFree(target: GuessTarget, context: GuessContext): Promise<FinalDecision> {
    const endsAtMs = performance.now() + waitTimeoutMs;
    let pollMs = firstPollMs;
    while (performance.now() < endsAtMs) {
      await sleep(pollMs);
      const decision = await this.beginIfFree(target, context);
      if (decision.kind !== 'wait') return decision;
      pollMs = Math.min(2 * pollMs, maxPollMs);
    }
    return { kind: 'locked', waitSeconds: 1 }; // the other guesses are still in progress
  }

  /** Begins a guess if the limits allow one now. Returns the decision. */
  private beginIfFree(target: GuessTarget, context: GuessContext): Promise<GuessDecision> {
    return this.database.transaction(async (tx) => {
      // Networks first, so that a locked network adds no rows for the e-mail addresses that it sends.
      for (const network of target.limitedNetworks) {
        const decision = await this.networkDecision(tx, network);
        if (decision.kind !== 'free') return this.recordIfLocked(tx, decision, network.subject, context);
      }
      const { decision, subject } = await this.accountDecision(tx, target);
      if (decision.kind !== 'free') return this.recordIfLocked(tx, decision, subject, context);
      await this.counts.begin(tx, subjectsOf(target));
      return decision;
    });
  }

  private async networkDecision(
    tx: Transaction,
    { subject, network, factor }: CountedNetwork,
  ): Promise<GuessDecision> {
    const count = await this.counts.lock(tx, subject);
    const decisionWith = (recentAccounts: number) =>
      limitDecision(count, networkLimit(this.failures, { factor, recentAccounts }));
    // Recent accounts only raise the limit, so they are not read if the guess is free without them.
    const decision = decisionWith(0);
    return decision.kind === 'free' ? decision : decisionWith(await this.counts.accountsOf(tx, network));
  }

  /**
   * Returns the stricter of the decisions about `everywhere` and `narrowest`, with its subject. Locks
   * `everywhere` first, for the order of GuessTarget.
   */
  private async accountDecision(
    tx: Transaction,
    { everywhere, narrowest }: GuessTarget,
  ): Promise<{ readonly decision: GuessDecision; readonly subject: string }> {
    const everywhereCount = everywhere === undefined ? undefined : await this.counts.lock(tx, everywhere);
    const narrowestDecision = limitDecision(await this.counts.lock(tx, narrowest), this.failures.requests);
    if (everywhere !== undefined && everywhereCount !== undefined) {
      const decision = delayDecision(everywhereCount, this.failures);
      if (isStricter(decision, narrowestDecision)) return { decision, subject: everywhere };
    }
    return { decision: narrowestDecision, subject: narrowest };
  }

  /** Counts a locked guess in the metric and for the audit log. Returns the decision. */
  private async recordIfLocked(
    tx: Transaction,
    decision: GuessDecision,
    subject: string,
    { origin, auditIfLocked: entry }: GuessContext,
  ): Promise<GuessDecision> {
    if (decision.kind !== 'locked') return decision;
    lockedAttempts.inc({ by: subject.slice(0, subject.indexOf(':')) });
    // The guesses from a network may be at many accounts, so its record names none of them.
    const record = subject.startsWith('address:') ? { ...entry, userId: undefined } : entry;
    const { windowSeconds } = this.failures;
    await countEvent(tx, { subject, origin, entry: record, windowSeconds });
    return decision;
  }
}

function subjectsOf({ limitedNetworks, everywhere, narrowest }: GuessTarget): string[] {
  const networks = limitedNetworks.map(({ subject }) => subject);
  return everywhere === undefined ? [...networks, narrowest] : [...networks, everywhere, narrowest];
}
