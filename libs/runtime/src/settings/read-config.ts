import type { z } from 'zod';
import { readSecretFiles } from './secret-files.js';

/** Exit status of a process whose configuration is invalid: EX_CONFIG of sysexits.h. */
export const exitCodeConfig = 78;

/**
 * Reads the settings, typed and frozen. A secret may be in a file (`NAME_FILE`). If a setting is invalid,
 * prints its name but not its value, and ends the process.
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<z.output<Schema>> {
  const { values, problems } = readSecretFiles(schema, environment);
  if (problems.length > 0) {
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    process.exit(exitCodeConfig);
  }
  const settings = {
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
    ...values,
  };
  const result = schema.safeParse(settings);
  if (result.success) return Object.freeze(result.data);
  for (const issue of result.error.issues) {
    const name = issue.path.join('.');
    const isMissing = !(name in settings);
    // A custom message says when the setting is required. Other messages only repeat that it is missing.
    const reason = isMissing && issue.code !== 'custom' ? '' : `: ${issue.message}`;
    process.stderr.write(`The setting ${name} ${isMissing ? 'is missing' : 'is invalid'}${reason}\n`);
  }
  process.exit(exitCodeConfig);
}
