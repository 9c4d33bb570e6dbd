import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { git } from '../dev/git.ts';
import { root } from '../dev/settings.ts';
import { httpBreaks } from './http-changes.ts';
import type { Document } from './json-schema.ts';
import { messageBreaks } from './message-changes.ts';
import type { Column, Finding } from './report.ts';

interface Contract {
  /** The services that fulfil the contract. */
  readonly services: readonly ServiceName[];
  readonly column: Column;
  /** Returns what breaks users of the released document. */
  readonly breaks: (released: Document, current: Document) => string[];
}

/** The generated documents that state the contracts of a release. */
const contracts = {
  'store.openapi.json': { services: ['store-api', 'webhook-worker'], column: 'HTTP', breaks: httpBreaks },
  'creator.openapi.json': { services: ['creator-api'], column: 'HTTP', breaks: httpBreaks },
  'asyncapi.json': { services: serviceNames, column: 'messages', breaks: messageBreaks },
} as const satisfies Record<string, Contract>;
const files = ['store.openapi.json', 'creator.openapi.json', 'asyncapi.json'] as const;
type ContractFile = (typeof files)[number];
const contractsSchema = z.record(z.enum(files), z.record(z.string(), z.unknown()));
type Contracts = z.infer<typeof contractsSchema>;

const reference = 'docs/reference';
/** Copies of the contracts of the last release, for checks without its commit. */
export const releasedContractsDir = `${reference}/released`;

/** Returns the files of the contracts that at least one of the services fulfils. */
export function contractFilesOf(services: readonly ServiceName[]): ContractFile[] {
  return files.filter((file) => contracts[file].services.some((service) => services.includes(service)));
}

export function currentContracts(): Contracts {
  return contractsFrom((file) => readFileSync(join(root, reference, file), 'utf8'));
}

export function releasedContracts(): Contracts {
  return contractsFrom((file) => readFileSync(join(root, releasedContractsDir, file), 'utf8'));
}

export async function contractsOfCommit(commit: string): Promise<Contracts> {
  const texts = new Map<ContractFile, string>();
  for (const file of files) texts.set(file, await git('show', `${commit}:${reference}/${file}`));
  return contractsFrom((file) => texts.get(file) ?? '');
}

/** Returns the changes that break users of the released contracts, for each service. */
export function contractFindings(released: Contracts, current: Contracts): Finding[] {
  return files.flatMap((file) => {
    const { services, column, breaks } = contracts[file];
    const texts = breaks(released[file], current[file]);
    return services.flatMap((service) => texts.map((text) => ({ service, column, text })));
  });
}

function contractsFrom(read: (file: ContractFile) => string): Contracts {
  const entries = files.map((file): [ContractFile, unknown] => [file, JSON.parse(read(file))]);
  return contractsSchema.parse(Object.fromEntries(entries));
}
