import { brokerDefinitions, redisUsers } from '@fulfilment/bootstrap/store-users';
import { serviceNames, storeUsers } from '@fulfilment/contracts/permissions';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rabbitmqNamespace } from '../settings.ts';
import type { DependencyContext } from './dependency.ts';

/** Containers read the files as other users. The files contain only hashes of random passwords. */
const readableByAll = 0o644;

/** Writes the users that Redis loads at its start. @returns the path of the file */
export function writeRedisUsers(context: DependencyContext): string {
  const { storePasswords, redisPassword } = context.secrets;
  const logins = serviceNames.map((owner) => ({ owner, user: owner, password: storePasswords[owner] }));
  return writeFile(context, 'users.acl', redisUsers(redisPassword, logins, context.settings.environment));
}

/**
 * Writes the users, permissions and the facts exchange that RabbitMQ loads at its start.
 * @returns the path of the file
 */
export function writeBrokerDefinitions(context: DependencyContext): string {
  const { storePasswords, rabbitmqPassword, warehousePassword } = context.secrets;
  const passwords = { ...storePasswords, warehouse: warehousePassword };
  const owners = [...storeUsers, 'warehouse'] as const;
  const logins = owners.map((owner) => ({ owner, user: owner, password: passwords[owner] }));
  const administrator = { user: 'suite', password: rabbitmqPassword };
  const text = brokerDefinitions(administrator, logins, rabbitmqNamespace(context.settings));
  return writeFile(context, 'definitions.json', text);
}

function writeFile(context: DependencyContext, name: string, text: string): string {
  const directory = join(context.settings.stateDir, 'store-users');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  writeFileSync(file, text);
  chmodSync(file, readableByAll); // a mode of `writeFileSync` depends on the umask
  return file;
}
