import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const user = z.object({
  email: z.string(),
  password: z.string(),
  org_id: z.string().nullable(),
  org_role: z.string().nullable(),
  creators: z.array(z.object({ uuid: z.string(), id: z.string(), name: z.string() })),
});
const clients = z.object({
  dashboard: z.object({ client_id: z.string(), redirect_uri: z.string() }),
  resource_server: z.object({ client_id: z.string(), client_secret: z.string() }),
});
const service = z.object({ url: z.string(), metrics_url: z.string(), internal_url: z.string() });

const stackSchema = z.object({
  base_url: z.string(),
  auth_url: z.string(),
  ca_file: z.string(),
  users: z.array(user),
  clients,
  services: z.record(z.string(), service),
  dependencies: z.object({ postgres: z.string(), redis: z.string(), rabbitmq: z.string() }),
  /** The broker with the user of the warehouse (docs/warehouses.md). */
  warehouse: z.object({ rabbitmq: z.string() }).optional(),
});
/** Contents of `stack.json`: addresses and accounts of a running suite. */
export type Stack = z.infer<typeof stackSchema>;
/** Members that the demo data adds. */
export type Seeded = Pick<Stack, 'users' | 'clients'>;
/** A suite before its demo data is loaded. */
export type BareStack = Omit<Stack, keyof Seeded>;

export function stackFile(stateDir: string): string {
  return join(stateDir, 'stack.json');
}

/** Writes the file atomically: its existence means that the suite is ready. */
export function writeStack(stateDir: string, stack: Stack): void {
  const fresh = `${stackFile(stateDir)}.new`;
  writeFileSync(fresh, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, stackFile(stateDir));
}

export function readStack(stateDir: string): Stack | undefined {
  const file = stackFile(stateDir);
  return existsSync(file) ? stackSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

export function removeStack(stateDir: string): void {
  rmSync(stackFile(stateDir), { force: true });
}
