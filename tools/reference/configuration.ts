import { serviceNames } from '@fulfilment/contracts/permissions';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { root } from '../dev/settings.ts';
import { table } from './markdown.ts';

const described = z.object({
  description: z.string().optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  enum: z.array(z.string()).optional(),
  secret: z.literal(true).optional(),
});

/** A table of every setting of every service, generated from the schema that parses it. */
export async function configurationReference(): Promise<string> {
  const sections = await Promise.all(
    serviceNames.map(async (name) => [`## ${name}`, '', settingsTable(await serviceSettings(name)), '']),
  );
  return [
    '# Settings',
    '',
    'Each service reads its environment once, at start. If a value is invalid, the service names it on standard error and exits with status 78.',
    'An empty value is the same as no value. A setting marked as secret may be in a file instead: `NAME_FILE` is the path of the file, and `NAME` is not set.',
    '',
    ...sections.flat(),
  ].join('\n');
}

/** The settings schema: the only Zod object that the compiled config of a service exports. */
async function serviceSettings(service: string): Promise<z.ZodObject> {
  const module: unknown = await import(pathToFileURL(join(root, 'apps', service, 'dist', 'config.js')).href);
  const schema = readExports(module).find((value) => value instanceof z.ZodObject);
  if (schema === undefined) throw new Failure(`${service} exports no settings schema.`);
  return schema;
}

function readExports(module: unknown): unknown[] {
  return typeof module === 'object' && module !== null ? Object.values(module) : [];
}

function settingsTable(schema: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const rows = Object.entries(properties).map(([name, property]) => {
    const { description = '', default: byDefault, enum: values, secret } = described.parse(property);
    const hasDefault = byDefault !== undefined && byDefault !== '';
    const withoutDefault = required.includes(name) ? 'required' : 'none';
    const value = hasDefault ? `\`${String(byDefault)}\`` : withoutDefault;
    const oneOf = values === undefined ? '' : ` (${values.map((text) => `\`${text}\``).join(', ')})`;
    const mark = secret === true ? ' (secret)' : '';
    return [`\`${name}\``, value, `${description}${oneOf}${mark}`];
  });
  return table(['Setting', 'Default', 'Meaning'], rows);
}
