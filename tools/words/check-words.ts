import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import { type Finding, findInMarkdown, findInSource } from './find-words.rules.ts';

/**
 * Checks identifiers, comments and documentation against the list of banned words. Files that were written before the list existed may keep
 * as many findings as remaining.json counts for them, and never get more. `--write` writes the current counts, `--list FILE…` prints findings.
 */
const countsFile = join(root, 'tools', 'words', 'remaining.json');
const patterns = [
  '{apps,libs,tools}/**/*.{ts,mjs}',
  '{apps,libs,docs,deploy,tools}/**/*.md',
  '*.md',
  '*.mjs',
];
const excluded = [
  '**/node_modules/**',
  '**/dist/**',
  '**/migrations/[0-9]*',
  'tools/words/**',
  'docs/glossary.md',
];

function check(): number {
  const counts = z.record(z.string(), z.number().int()).parse(JSON.parse(readFileSync(countsFile, 'utf8')));
  const findings = findInFiles();
  const args = process.argv.slice(2);
  if (args[0] === '--write') return write(findings);
  if (args[0] === '--list') return list(findings, args.slice(1));
  const worse = [...findings].filter(([file, found]) => found.length > (counts[file] ?? 0));
  for (const [file, found] of worse) {
    const allowed = counts[file] ?? 0;
    console.error(
      `${file} has ${found.length} banned words or wide comments; at most ${allowed} are allowed:`,
    );
    console.error(linesOf(file, found));
  }
  if (worse.length > 0)
    console.error('See docs/glossary.md. An exception needs its reason on the line: // words: REASON');
  return worse.length > 0 ? 1 : 0;
}

function findInFiles(): Map<string, Finding[]> {
  const files = globSync(patterns, { cwd: root, exclude: excluded }).toSorted();
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [file, file.endsWith('.md') ? findInMarkdown(text) : findInSource(text)];
    }),
  );
}

function write(findings: ReadonlyMap<string, readonly Finding[]>): number {
  const counts = [...findings]
    .filter(([, found]) => found.length > 0)
    .map(([file, found]) => [file, found.length]);
  writeFileSync(countsFile, `${JSON.stringify(Object.fromEntries(counts), null, 2)}\n`);
  return 0;
}

function list(findings: ReadonlyMap<string, readonly Finding[]>, names: readonly string[]): number {
  for (const [file, found] of findings)
    if (found.length > 0 && names.some((name) => file.startsWith(name))) console.log(linesOf(file, found));
  return 0;
}

function linesOf(file: string, findings: readonly Finding[]): string {
  return findings.map(({ line, found, use }) => `  ${file}:${line} ${found} (use: ${use})`).join('\n');
}

process.exitCode = check();
