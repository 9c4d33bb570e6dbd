import { permanentProblem, type UploadFailure, type UploadProblem } from '../upload-failure.rules.js';

/** Limits the runs of a file that crashes processes. Processes killed for other reasons also count. */
const maxLostRuns = 10;

type NextRun = { readonly failure: UploadFailure } | { readonly delayMs: number };

/** Returns the delay of the next run, or the final failure. @param failedRuns number before this run */
export function nextRun(problem: UploadProblem, failedRuns: number, scheduleMs: readonly number[]): NextRun {
  const delayMs = scheduleMs[failedRuns];
  return problem.isTransient && delayMs !== undefined ? { delayMs } : { failure: problem };
}

/** Returns the problem if too many runs ended with a lost process. */
export function findLostRunsProblem(lostRuns: number): UploadProblem | undefined {
  return lostRuns > maxLostRuns
    ? permanentProblem('internal_error', 'The processing of the file was interrupted too often.')
    : undefined;
}
