import type { OpenApiDocument } from '@fulfilment/api-reference';
import { createClient } from '@hey-api/openapi-ts';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../dev/failure.ts';

/** The folders of @hey-api/openapi-ts that are the same for every document. */
const shared = /^(client|core)\//;

/**
 * Returns the generated sources of libs/client by their path: the types and operations of each API, and once
 * the code that sends requests (ADR 53).
 */
export async function generateClientSources(
  documents: Readonly<Record<string, OpenApiDocument>>,
  dir: string,
): Promise<Record<string, string>> {
  const sources: Record<string, string> = {};
  for (const [api, document] of Object.entries(documents)) {
    for (const [path, text] of await generateSources(document)) {
      const name = join(dir, shared.test(path) ? path : join(api, path));
      const source = adaptSource(path, text);
      if ((sources[name] ?? source) !== source)
        throw new Failure(`${name} differs between the APIs, but the client contains it only once.`);
      sources[name] = source;
    }
  }
  return sources;
}

/** Corrects the path of the shared code in the sources of an API, and a type that Node lacks, `BodyInit`. */
function adaptSource(path: string, text: string): string {
  return shared.test(path)
    ? text.replaceAll('BodyInit | null | undefined', `RequestInit['body']`)
    : text.replaceAll(`'./client/index.js'`, `'../client/index.js'`);
}

async function generateSources(document: OpenApiDocument): Promise<(readonly [string, string])[]> {
  const dir = mkdtempSync(join(tmpdir(), 'client-'));
  try {
    await createClient({
      input: { ...document, paths: withoutServicePaths(document) },
      output: { path: dir, module: { extension: '.js' }, entryFile: false },
      logs: { level: 'silent', file: false },
      plugins: [
        '@hey-api/typescript',
        { name: '@hey-api/sdk', client: false },
        { name: '@hey-api/client-fetch', throwOnError: true, baseUrl: false },
      ],
    });
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('client.gen'))
      .toSorted()
      .map((path) => [path, readFileSync(join(dir, path), 'utf8')] as const);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Returns the paths without health, discovery and the reference, which are not part of an integration. */
function withoutServicePaths({ paths }: OpenApiDocument): OpenApiDocument['paths'] {
  const isService = (path: object): boolean =>
    Object.values(path).some(({ tags = [] }: { tags?: string[] }) => tags.includes('Service'));
  return Object.fromEntries(Object.entries(paths).filter(([, path]) => !isService(path)));
}
