import { brokerDefinitions, redisUsers } from '@fulfilment/bootstrap/store-users';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rabbitmqNamespace } from '../services.ts';
import type { Site } from './dependency.ts';

/** Mode of the files, which containers read as other users; they contain hashes of random passwords. */
const readableByAll = 0o644;

/** Writes the users that Redis loads at its start. @returns the path of the file */
export function writeRedisUsers(site: Site): string {
  const { storePasswords, redisPassword } = site.secrets;
  const passwords = { administrator: redisPassword, users: storePasswords };
  return writeFile(site, 'users.acl', redisUsers(passwords, site.settings.environment));
}

/**
 * Writes the users, permissions and the facts exchange that RabbitMQ loads at its start.
 * @returns the path of the file
 */
export function writeBrokerDefinitions(site: Site): string {
  const {
    storePasswords: users,
    rabbitmqPassword: administrator,
    warehousePassword: warehouse,
  } = site.secrets;
  const passwords = { administrator, users, warehouse };
  const text = brokerDefinitions(passwords, rabbitmqNamespace(site.settings), 'suite');
  return writeFile(site, 'definitions.json', text);
}

function writeFile(site: Site, name: string, text: string): string {
  const directory = join(site.settings.stateDir, 'store-users');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  writeFileSync(file, text, { mode: readableByAll });
  return file;
}
