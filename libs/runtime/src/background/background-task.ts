/**
 * Work of a service apart from requests and messages. A service starts all its providers of this class once
 * its database is connected, and stops them before its connections close.
 */
export abstract class BackgroundTask {
  /** Whether the task stops before the HTTP port closes, not after it. */
  readonly stopsBeforeHttp: boolean = false;

  /** A service repeats it after `DependencyUnavailable`. */
  abstract start(): void | Promise<void>;

  /** Resolves when the current work has ended. Does nothing for a task that was not started. */
  abstract stop(): Promise<unknown>;
}
