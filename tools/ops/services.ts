import { join } from 'node:path';
import { root } from '../dev/settings.ts';

export const opsCommand = 'npm run -s ops --';

/** The services and the first words of their commands. */
export const nounsOfServices: Readonly<Record<string, readonly string[]>> = {
  'store-api': [
    'order',
    'orders',
    'stock',
    'product',
    'release',
    'catalogue',
    'shipping',
    'payments',
    'dead-letters',
  ],
  'auth-server': ['organisation', 'user', 'creator', 'client', 'keys', 'audit', 'creators'],
  'creator-api': ['rates', 'statistics', 'order-counts'],
  'webhook-worker': ['webhooks'],
};

export function serviceOf(noun: string | undefined): string | undefined {
  return Object.keys(nounsOfServices).find((service) => nounsOfServices[service]?.includes(noun ?? ''));
}

/** Returns the path of the program with the commands of a service. */
export function cliOf(service: string): string {
  return join(root, 'apps', service, 'dist', 'cli.js');
}

/**
 * Removes an option from the arguments. Returns its value: undefined if absent, empty if it has none. A value
 * that begins with two hyphens must be written with `=`.
 */
export function takeOption(
  args: readonly string[],
  name: string,
): { readonly value: string | undefined; readonly rest: readonly string[] } {
  const index = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  if (index === -1) return { value: undefined, rest: args };
  if (args[index] !== name)
    return { value: args[index]?.slice(name.length + 1), rest: args.toSpliced(index, 1) };
  const next = args[index + 1];
  const hasValue = next !== undefined && !next.startsWith('--');
  return { value: hasValue ? next : '', rest: args.toSpliced(index, hasValue ? 2 : 1) };
}
