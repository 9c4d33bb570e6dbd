import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/settings.ts';
import { findInMarkdown, findInSource } from './find-words.rules.ts';

const patterns = [
  '{apps,libs,tools}/**/*.{ts,mjs}',
  '{apps,libs,docs,deploy,tools}/**/*.md',
  '*.md',
  '*.mjs',
];
const excluded = [
  '**/node_modules/**',
  '**/dist/**',
  'libs/client/src/generated/**', // texts of the API reference and code of its generator
  'tools/words/**',
  'docs/glossary.md',
];

/** Prints banned words, and comments that are too wide. Returns the exit status. */
function check(): number {
  const files = globSync(patterns, { cwd: root, exclude: excluded }).toSorted();
  const findings = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return (file.endsWith('.md') ? findInMarkdown(text) : findInSource(text)).map(
      ({ line, found, use }) => `${file}:${line} ${found} (use: ${use})`,
    );
  });
  for (const line of findings) console.error(line);
  if (findings.length === 0) return 0;
  console.error(
    'See docs/glossary.md. An exception needs its reason, on the line or above: // words: REASON',
  );
  return 1;
}

process.exitCode = check();
