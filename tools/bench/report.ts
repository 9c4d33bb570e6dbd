import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { root } from '../dev/settings.ts';
import type { BenchSite } from './bench-site.ts';
import { type Figure, formatTable } from './figures.ts';

const file = join(root, 'docs', 'reference', 'benchmarks.md');
const head = `# Benchmarks

Written by \`npm run bench -- NAME --write\`: what one run measured, on the machine that stands above each table. Only ratios mean something elsewhere.
`;

/** Describes the machine, versions and amounts of a measurement. */
export async function circumstances(site: Omit<BenchSite, 'step'>): Promise<string[]> {
  const { rounds, eachMs, oldRows, stores } = site;
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `Machine: ${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, ${memory} GiB, ${type()} ${release()}`,
    `Versions: Node.js ${process.versions.node}, PostgreSQL ${await postgresVersion(stores.postgres)}, Redis ${await redisVersion(stores.redis)}`,
    `Sizes: ${rounds} rounds of ${eachMs} ms a variant, taking turns; beside ${oldRows} rows`,
  ];
}

/** Replaces the table of a benchmark in the file. */
export function writeBenchmarks(name: string, lines: readonly string[], figures: readonly Figure[]): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : head;
  writeFileSync(
    file,
    withSection(text, name, [...lines, '', ...formatTable(figures).map((line) => line.slice(2))]),
  );
}

/** @param text the whole file, in which a section ends at the next heading */
export function withSection(text: string, name: string, lines: readonly string[]): string {
  const [before = '', ...sections] = text.split(/^(?=## )/m);
  const section = `## ${name}\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
  const others = sections.filter((one) => !one.startsWith(`## ${name}\n`)).map((one) => `${one.trimEnd()}\n`);
  return [`${before.trimEnd()}\n`, ...[...others, section].sort()].join('\n');
}

async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  return rows[0]?.server_version ?? 'unknown';
}

async function redisVersion(url: string): Promise<string> {
  const client = new Redis(url);
  const info = await client.info('server');
  client.disconnect();
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}
