export type PartState = 'stopped' | 'starting' | 'running' | 'paused' | 'stopping' | 'waiting' | 'given';

export interface PartStatus {
  readonly name: string;
  readonly kind: 'service' | 'dependency';
  /** `waiting`: it died and is about to be started again. `given`: somebody else runs it. */
  readonly state: PartState;
  readonly pid: number | null;
  readonly uptime_seconds: number | null;
  /** How often it was started again because it had died. */
  readonly restarts: number;
}

/** One service or dependency that the suite runs. Each call returns when it is done. */
export interface Part {
  readonly name: string;
  /** Left out of the status: it only serves another part. */
  readonly hidden: boolean;
  status(): PartStatus;
  /** Starts it and waits until it answers. */
  start(): Promise<void>;
  /** Ends it gracefully, by force after a while; it stays stopped. */
  stop(): Promise<void>;
  /** SIGKILL to all of its processes; it is then started again like after any other death. */
  kill(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export const verbs = ['start', 'stop', 'restart', 'kill', 'pause', 'resume'] as const;
export type Verb = (typeof verbs)[number];
