import { join } from 'node:path';
import { root } from '../dev/settings.ts';

export const program = 'npm run -s ops --';

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

/** Removes an option from the arguments. Returns its value: undefined if absent, empty if it has none. */
export function takeOption(
  args: readonly string[],
  name: string,
): { readonly value: string | undefined; readonly rest: readonly string[] } {
  const index = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  if (index === -1) return { value: undefined, rest: args };
  const isInline = args[index] !== name;
  return {
    value: (isInline ? args[index]?.slice(name.length + 1) : args[index + 1]) ?? '',
    rest: args.toSpliced(index, isInline ? 1 : 2),
  };
}
