import { cpus, release, totalmem, type } from 'node:os';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import prettier from 'prettier';
import { runSql } from '../dev/run-sql.ts';
import { root } from '../dev/settings.ts';
import { table } from '../reference/markdown.ts';
import type { BenchContext } from './bench-context.ts';
import { type Figure, figureSchema, describeTarget, formatValue, isMet, spreadOf } from './figures.ts';

const pageFile = join(root, 'docs', 'reference', 'benchmarks.md');
const jsonFile = join(root, 'docs', 'reference', 'benchmarks.json');

/** The result of one benchmark run. */
export interface Report {
  readonly command: string;
  /** Machine, versions and sizes. */
  readonly conditions: readonly string[];
  readonly figures: readonly Figure[];
}

const reportsSchema = z.record(
  z.string(),
  z.object({ command: z.string(), conditions: z.array(z.string()), figures: z.array(figureSchema) }),
);

/** Describes the machine, versions and sizes of a benchmark run. */
export async function describeConditions(context: Omit<BenchContext, 'step' | 'suite'>): Promise<string[]> {
  const { rounds, eachMs, rowCount, stores } = context;
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `Machine: ${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, ${memory} GiB, ${type()} ${release()}`,
    `Versions: Node.js ${process.versions.node}, PostgreSQL ${await postgresVersion(stores.postgres)}, Redis ${await redisVersion(stores.redis)}`,
    `Sizes: ${rounds} rounds of ${eachMs} ms per variant, which alternate; --rows ${rowCount}`,
  ];
}

async function postgresVersion(url: string): Promise<string> {
  const [row] = await runSql(url, 'SHOW server_version');
  return String(row?.['server_version']);
}

async function redisVersion(url: string): Promise<string> {
  const client = new Redis(url);
  const info = await client.info('server');
  client.disconnect();
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}

/** Replaces the run of this benchmark in benchmarks.json, and writes benchmarks.md from all runs in it. */
export async function writeReport(name: string, report: Report): Promise<void> {
  const reports = { ...readReports(), [name]: report };
  await writeFormatted(jsonFile, 'json', JSON.stringify(reports));
  await writeFormatted(pageFile, 'markdown', formatPage(reports));
}

function readReports(): Record<string, Report> {
  return existsSync(jsonFile) ? reportsSchema.parse(JSON.parse(readFileSync(jsonFile, 'utf8'))) : {};
}

async function writeFormatted(file: string, parser: 'json' | 'markdown', text: string): Promise<void> {
  const options = await prettier.resolveConfig(file);
  writeFileSync(file, await prettier.format(text, { ...options, parser }));
}

function formatPage(reports: Readonly<Record<string, Report>>): string {
  return [
    '# Benchmarks',
    'Written by `npm run bench -- NAME --write`. [Measuring](../measuring.md) says what each benchmark compares. A figure is the median of its rounds; ratios compare two variants within one round. The value of each round is in [benchmarks.json](benchmarks.json).',
    ...Object.entries(reports)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, report]) => formatSection(name, report)),
  ].join('\n\n');
}

function formatSection(name: string, { command, conditions, figures }: Report): string[] {
  const rows = figures.map((measured) => {
    const { name: figureName, unit, value, target } = measured;
    const targetText =
      target === undefined ? '' : `${describeTarget(target)}: ${isMet(measured) ? 'met' : 'missed'}`;
    // Markdown ignores spaces at the beginning of a cell.
    const indentedName = figureName.replace(/^ +/, '&emsp;');
    return [indentedName, `${formatValue(value)} ${unit}`, spreadOf(measured) ?? '', targetText];
  });
  const lines = conditions.map((line) => `- ${line}`).join('\n');
  return [
    `## ${name}`,
    `\`${command}\``,
    lines,
    table(['Figure', 'Median', 'Range of the rounds', 'Target'], rows),
  ];
}
