import { findLostRunsProblem, nextRun } from './next-run.rules.js';
import { permanentProblem, transientProblem } from '../upload-failure.rules.js';

const scheduleMs = [10, 60];
const transient = transientProblem('timeout', 'The server took too long.');
const permanent = permanentProblem('not_audio', 'The file is not audio.');

describe('nextRun', () => {
  it.each([
    [0, { delayMs: 10 }],
    [1, { delayMs: 60 }],
    [2, { failure: { code: 'timeout' } }],
    [9, { failure: { code: 'timeout' } }],
  ])('after a transient problem and %i failed runs, returns %j', (failedRuns, next) => {
    expect(nextRun(transient, failedRuns, scheduleMs)).toMatchObject(next);
  });

  it('returns the failure after a permanent problem', () => {
    expect(nextRun(permanent, 0, scheduleMs)).toMatchObject({ failure: { code: 'not_audio' } });
  });
});

describe('findLostRunsProblem', () => {
  it('allows ten runs whose process died, and no more', () => {
    expect(findLostRunsProblem(10)).toBeUndefined();
    expect(findLostRunsProblem(11)).toMatchObject({ code: 'internal_error', isTransient: false });
  });
});
