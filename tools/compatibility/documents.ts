import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ServiceName, serviceNames } from '../dev/ports.ts';
import { mustRun } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { httpBreaks } from './http-changes.ts';
import type { Document } from './json-schema.ts';
import { messageBreaks } from './message-changes.ts';
import type { Finding } from './report.ts';

/** The generated documents that state the contracts of a release. */
export const contractFiles = ['store.openapi.json', 'creator.openapi.json', 'asyncapi.json'] as const;
export type ContractFile = (typeof contractFiles)[number];
type Contracts = Readonly<Record<ContractFile, Document>>;

const reference = 'docs/reference';
/** Copies of the contracts of the last release, for checks without its commit. */
export const releasedContractsDir = `${reference}/released`;

/** The service of a contract; the messages are those of all. */
export const contractOwners: Partial<Record<ContractFile, ServiceName>> = {
  'store.openapi.json': 'store-api',
  'creator.openapi.json': 'creator-api',
};

export function currentContracts(): Contracts {
  return contractsFrom((file) => readFileSync(join(root, reference, file), 'utf8'));
}

/** Returns undefined before the first release. */
export function releasedContracts(): Contracts | undefined {
  const dir = join(root, releasedContractsDir);
  return existsSync(dir) ? contractsFrom((file) => readFileSync(join(dir, file), 'utf8')) : undefined;
}

export async function contractsOfCommit(commit: string): Promise<Contracts> {
  const texts = new Map<ContractFile, string>();
  for (const file of contractFiles)
    texts.set(file, await mustRun('git', ['show', `${commit}:${reference}/${file}`], { cwd: root }));
  return contractsFrom((file) => texts.get(file) ?? '');
}

/** What breaks users of the released contracts. A message concerns every service. */
export function contractFindings(released: Contracts, current: Contracts): Finding[] {
  const http = contractFiles.flatMap((file) => {
    const service = contractOwners[file];
    if (service === undefined) return [];
    return httpBreaks(released[file], current[file]).map((text): Finding => ({
      service,
      column: 'HTTP',
      text,
    }));
  });
  const messages = messageBreaks(released['asyncapi.json'], current['asyncapi.json']);
  return [
    ...http,
    ...serviceNames.flatMap((service) =>
      messages.map((text): Finding => ({ service, column: 'messages', text })),
    ),
  ];
}

function contractsFrom(read: (file: ContractFile) => string): Contracts {
  const parse = (file: ContractFile): Document =>
    z.record(z.string(), z.unknown()).parse(JSON.parse(read(file)));
  return {
    'store.openapi.json': parse('store.openapi.json'),
    'creator.openapi.json': parse('creator.openapi.json'),
    'asyncapi.json': parse('asyncapi.json'),
  };
}
