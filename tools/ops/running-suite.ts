import { z } from 'zod';
import { notRunning, readSettings } from '../dev/settings.ts';
import { control } from '../dev/supervisor/control.ts';

const siteSchema = z.object({
  rabbitmq: z.string(),
  namespace: z.string(),
  /** URL of a service's message outcomes. */
  internal_urls: z.record(z.string(), z.string()),
  /** The environment of each service's own programs. */
  environments: z.record(z.string(), z.record(z.string(), z.string())),
  /** The environment of each service itself, unless it runs in a container. */
  service_environments: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  /** Command lines of these programs, if they run in containers. */
  programs: z.record(z.string(), z.array(z.string())).optional(),
});

/** Access of operator commands to the broker, the services' internal ports and their programs. */
export type RunningSuite = z.infer<typeof siteSchema>;

/** Returns the suite of this state directory. @throws Failure when none is running */
export async function openSuite(): Promise<RunningSuite> {
  const { stateDir } = readSettings();
  const running = await control(stateDir, 'site');
  if (running === undefined) throw notRunning(stateDir);
  return siteSchema.parse(running.result);
}
