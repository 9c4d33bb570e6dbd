import { z } from 'zod';
import { notRunning, readSettings } from '../dev/settings.ts';
import { control } from '../dev/supervisor/control.ts';

const accessSchema = z.object({
  /** Base URL of the internal port of each service, where `messages/ID` is the outcome of a message. */
  internal_urls: z.record(z.string(), z.string()),
  /** Environment for the operator commands of each service, with RabbitMQ's user for operators. */
  environments: z.record(z.string(), z.record(z.string(), z.string())),
  /** Environment of the running services, for `doctor`; absent if the services run in containers. */
  service_environments: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  /** Command line of each service's operator commands. */
  programs: z.record(z.string(), z.array(z.string())),
});

/** Addresses, environments and programs for operator commands. */
export type OperatorAccess = z.infer<typeof accessSchema>;

/** Reads the access from the supervisor of the running suite. @throws Failure when none is running */
export async function readOperatorAccess(): Promise<OperatorAccess> {
  const { stateDir } = readSettings();
  const running = await control(stateDir, 'operator-access');
  if (running === undefined) throw notRunning(stateDir);
  return accessSchema.parse(running.result);
}
