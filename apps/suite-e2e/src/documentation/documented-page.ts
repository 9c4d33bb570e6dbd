import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../suite/the-suite.js';

/** A fenced block of a page: ```` ```sh name="value" ````. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** Name of the file in which readers save the block. */
  readonly title: string | undefined;
  /** Regular expression of the output, after this block, of the shell session that runs the page's blocks. */
  readonly prints: string | undefined;
  /** The reason why the tests do not run the block. */
  readonly noRun: string | undefined;
}

const programLanguages = ['sh', 'ts', 'python'];

/** Returns the code blocks of a page that are programs, in their order. */
export function programBlocks(file: string): CodeBlock[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^```(\w+)(.*)\n([^]*?)^```$/gm)]
    .map(([, language = '', marks = '', code = '']) => ({
      language,
      code,
      title: valueOf(marks, 'title'),
      prints: valueOf(marks, 'prints'),
      noRun: valueOf(marks, 'no-run'),
    }))
    .filter(({ language }) => programLanguages.includes(language));
}

function valueOf(marks: string, name: string): string | undefined {
  return new RegExp(`(?:^| )${name}="([^"]*)"`).exec(marks)?.[1];
}
