import { forGood, type UploadFailure, type UploadProblem } from './upload-failure.rules.js';

/** A file at which every process dies must end some time; releases of the service must not end one that is large. */
const mostLostRuns = 10;

export type NextRun = { readonly failure: UploadFailure } | { readonly afterMs: number };

/** What follows a run with a problem: another after a while, or none. @param failedRuns before this one */
export function nextRun(problem: UploadProblem, failedRuns: number, scheduleMs: readonly number[]): NextRun {
  const afterMs = scheduleMs[failedRuns];
  return problem.mayPass && afterMs !== undefined ? { afterMs } : { failure: problem };
}

/** Whether its processes died at it too often. @param run the number of this one */
export function lostTooOften(run: number, failedRuns: number): UploadProblem | undefined {
  return run - 1 - failedRuns > mostLostRuns
    ? forGood('internal_error', 'The processing of the file was interrupted too often.')
    : undefined;
}
