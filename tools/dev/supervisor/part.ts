import { z } from 'zod';

/** The status of a part, which is a service or dependency that the supervisor runs. */
export const partStatus = z
  .object({
    name: z.string(),
    kind: z.enum(['service', 'dependency']),
    /** `waiting`: it died and will be restarted. `external`: the suite does not run it. */
    state: z.enum(['stopped', 'starting', 'running', 'paused', 'stopping', 'waiting', 'external']),
    pid: z.number().nullable(),
    uptime_seconds: z.number().nullable(),
    /** Number of restarts after a crash. */
    restarts: z.number(),
  })
  .readonly();
export type PartStatus = z.infer<typeof partStatus>;

export const verbs = ['start', 'stop', 'restart', 'kill', 'pause', 'resume'] as const;
export type Verb = (typeof verbs)[number];
