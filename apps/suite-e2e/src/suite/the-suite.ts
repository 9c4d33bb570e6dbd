import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Root directory of the repository, in which operator commands run. */
export const root = fileURLToPath(new URL('../../../..', import.meta.url));

const stackFile = process.env.SUITE_STACK_FILE ?? join(root, '.dev', 'stack.json');

const stackSchema = z.object({
  base_url: z.string(),
  auth_url: z.string(),
  ca_file: z.string(),
  users: z.array(z.object({ email: z.string(), password: z.string() })),
  clients: z.object({
    dashboard: z.object({ client_id: z.string(), redirect_uri: z.string() }),
    resource_server: z.object({ client_id: z.string(), client_secret: z.string() }),
  }),
  services: z.record(z.string(), z.object({ url: z.string(), metrics_url: z.string() })),
  dependencies: z.record(z.string(), z.string()),
  warehouse: z.object({ rabbitmq: z.string() }),
});

/** The running suite, as `stack.json` describes it. */
export const suite = stackSchema.parse(JSON.parse(readFileSync(stackFile, 'utf8')));
export const certificateAuthority = readFileSync(suite.ca_file, 'utf8');
/** The state directory, by which operator commands find the suite. */
export const stateDir = dirname(stackFile);

export interface User {
  readonly email: string;
  readonly password: string;
}

/** Returns an account of the demo data. */
export function demoUser(email: string): User {
  const user = suite.users.find((candidate) => candidate.email === email);
  if (user === undefined) throw new Error(`The demo data has no ${email}.`);
  return user;
}
