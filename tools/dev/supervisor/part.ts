export type PartState = 'stopped' | 'starting' | 'running' | 'paused' | 'stopping' | 'waiting' | 'given';

/** A part: a service or dependency that the supervisor runs. */
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

export const verbs = ['start', 'stop', 'restart', 'kill', 'pause', 'resume'] as const;
export type Verb = (typeof verbs)[number];
