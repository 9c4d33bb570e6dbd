import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { readSettings } from '../dev/settings.ts';
import { control } from '../dev/supervisor/control.ts';

const siteSchema = z.object({
  rabbitmq: z.string(),
  namespace: z.string(),
  /** Where a service tells what became of a message. */
  internal_urls: z.record(z.string(), z.string()),
  /** The environment of each service's own programs. */
  environments: z.record(z.string(), z.record(z.string(), z.string())),
});

/** What the operator's commands reach: the broker, the services' internal ports and their own programs. */
export type RunningSuite = z.infer<typeof siteSchema>;

/** The suite of this state directory. @throws Failure when none runs */
export async function openSuite(): Promise<RunningSuite> {
  const answer = await control(readSettings().stateDir, 'site');
  if (answer === undefined) throw new Failure('No suite is running. Start one with: npm start');
  return siteSchema.parse(answer.answer);
}
