import type { Claim } from './claiming/claim-deliveries.js';
import { DispatchActivity } from './dispatch-activity.js';
import { singleDay } from '../dispatch-queue/day-span.rules.js';

const [monday, tuesday] = [singleDay('2026-11-23'), singleDay('2026-11-24')];
const due = { subscriptionId: '01900000-0000-7000-8000-000000000004', lane: 'fast', days: monday } as const;
const emptyClaim: Claim = { deliveries: [], moreDue: false, lane: undefined, days: monday };

/** The activity of a subscription after a claim of deliveries. */
function withAttempts(count: number, claim: Claim = emptyClaim): DispatchActivity {
  const activity = new DispatchActivity(due);
  activity.beginClaim();
  activity.recordClaim(claim);
  activity.startAttempts(count);
  activity.endClaim();
  return activity;
}

describe('the activity of a subscription', () => {
  it('continues once, in the lane of the claim, when the attempts have ended and more is due', () => {
    const activity = withAttempts(2, { ...emptyClaim, moreDue: true, lane: 'slow' });
    expect(activity.endAttempt()).toBeUndefined();
    expect(activity.endAttempt()).toEqual({ ...due, lane: 'slow' });
    expect(activity.continueIfMoreDue()).toBeUndefined();
    expect(activity.isIdle).toBe(true);
  });

  it('continues when half of the attempts of a large batch have ended', () => {
    const activity = withAttempts(10, { ...emptyClaim, moreDue: true });
    const continued = Array.from({ length: 6 }, () => activity.endAttempt() !== undefined);
    expect(continued).toEqual([false, false, false, false, true, false]);
  });

  it('ends after an empty claim if no attempt was running', () => {
    const activity = withAttempts(0);
    expect(activity.continueAfterEmptyClaim()).toBeUndefined();
    expect(activity.isIdle).toBe(true);
  });

  it('continues after an empty claim when the attempts that were running before it have ended', () => {
    const activity = withAttempts(1);
    activity.beginClaim();
    activity.recordClaim(emptyClaim);
    expect(activity.continueAfterEmptyClaim()).toBeUndefined();
    activity.endClaim();
    expect(activity.endAttempt()).toEqual(due);
  });

  it('continues at once after an empty claim, with the days of an entry that was added during it', () => {
    const activity = withAttempts(1);
    activity.beginClaim();
    activity.add({ ...due, days: tuesday });
    activity.postpone();
    activity.recordClaim(emptyClaim);
    const days = { from: monday.from, to: tuesday.to };
    expect(activity.continueAfterEmptyClaim()).toMatchObject({ ...due, days });
  });
});
