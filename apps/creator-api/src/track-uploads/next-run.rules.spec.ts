import { lostTooOften, nextRun } from './next-run.rules.js';
import { forGood, forNow } from './upload-failure.rules.js';

const schedule = [10, 60];
const passing = forNow('timeout', 'The server took too long.');
const lasting = forGood('not_audio', 'The file is no audio.');

describe('after a run with a problem', () => {
  it.each([
    [0, { afterMs: 10 }],
    [1, { afterMs: 60 }],
    [2, { failure: { code: 'timeout' } }],
    [9, { failure: { code: 'timeout' } }],
  ])('that may pass, and %i like it before, follows %j', (failedRuns, next) => {
    expect(nextRun(passing, failedRuns, schedule)).toMatchObject(next);
  });

  it('that will not pass, nothing follows', () => {
    expect(nextRun(lasting, 0, schedule)).toMatchObject({ failure: { code: 'not_audio' } });
  });
});

describe('runs whose process died', () => {
  it('are ten at most, those that failed not counted', () => {
    expect(lostTooOften(1, 0)).toBeUndefined();
    expect(lostTooOften(11, 0)).toBeUndefined();
    expect(lostTooOften(12, 0)).toMatchObject({ code: 'internal_error', mayPass: false });
    expect(lostTooOften(15, 4)).toBeUndefined();
  });
});
