export type PartState = 'stopped' | 'starting' | 'running' | 'paused' | 'stopping' | 'waiting' | 'given';

export interface PartStatus {
  readonly name: string;
  readonly kind: 'service' | 'dependency';
  /** `waiting`: it died and will be restarted. `given`: external. */
  readonly state: PartState;
  readonly pid: number | null;
  readonly uptime_seconds: number | null;
  /** Number of restarts after a crash. */
  readonly restarts: number;
}

/** A service or dependency that the suite runs. */
export interface Part {
  readonly name: string;
  /** Omitted from the status, since it only serves another part. */
  readonly hidden: boolean;
  status(): PartStatus;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** Stops it gracefully, or by force after a timeout. It is not restarted. */
  stop(): Promise<void>;
  /** Sends SIGKILL to all of its processes; it is then restarted as after a crash. */
  kill(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export const verbs = ['start', 'stop', 'restart', 'kill', 'pause', 'resume'] as const;
export type Verb = (typeof verbs)[number];
