import { readFileSync } from 'node:fs';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

/** Metadata of a setting that is a secret. Its value may also be in a file, whose path is in `NAME_FILE`. */
export const secret = { secret: true } as const;

/** Names of the secret settings of a schema. */
export function secretNames(schema: z.ZodType): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape)
    .filter(([, field]) => isSecret(field))
    .map(([name]) => name);
}

function isSecret(field: unknown): boolean {
  if (!(field instanceof z.ZodType)) return false;
  return field.meta()?.secret === true || (field instanceof z.ZodOptional && isSecret(field.unwrap()));
}

/**
 * Reads the secrets that are given as files. Line breaks at the end of a file are not part of the value.
 * @returns the values by name, and a sentence for each file that cannot be used
 */
export function readSecretFiles(
  schema: z.ZodType,
  environment: Environment,
): { values: Record<string, string>; problems: string[] } {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of secretNames(schema)) {
    const fileSetting = `${name}_FILE`;
    const path = environment[fileSetting];
    if (path === undefined || path === '') continue;
    if (environment[name] !== undefined && environment[name] !== '') {
      problems.push(`The settings ${name} and ${fileSetting} must not both be set`);
      continue;
    }
    try {
      const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
      if (value === '') problems.push(`The setting ${fileSetting} is invalid: the file ${path} is empty`);
      else values[name] = value;
    } catch (error) {
      const hasCode = typeof error === 'object' && error !== null && 'code' in error;
      const reason = hasCode ? String(error.code) : 'unreadable';
      problems.push(`The setting ${fileSetting} is invalid: the file ${path} cannot be read (${reason})`);
    }
  }
  return { values, problems };
}
