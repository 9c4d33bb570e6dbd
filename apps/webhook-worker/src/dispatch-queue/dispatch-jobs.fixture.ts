import { DispatchJobs } from './dispatch-jobs.js';

/** Loses no wake-up while the process of the test stalls. */
export class PatientDispatchJobs extends DispatchJobs {
  protected override readonly addTimeoutMs = 60_000;
}
