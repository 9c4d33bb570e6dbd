import { randomBytes } from 'node:crypto';

/** Returns the URL of a store for tests. `npm test` starts private instances, and sets these variables. */
export function storeUrl(name: 'TEST_POSTGRES_URL' | 'TEST_REDIS_URL' | 'TEST_RABBITMQ_URL'): string {
  const url = process.env[name];
  if (url === undefined || url === '')
    throw new Error(`${name} is not set. Run "npm test", or set it to the URL of a store.`);
  return url;
}

/** Returns a name that no other test uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}
