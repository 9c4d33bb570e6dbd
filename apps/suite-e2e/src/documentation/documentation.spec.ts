import { eventually, freePort } from '@fulfilment/testing';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CodeBlock, programBlocks } from './documented-page.js';
import { ShellSession } from './shell-session.js';
import { demoUser, root, stateDir, suite } from '../suite/the-suite.js';
import { fetchFromSuite } from '../suite/fetch-from-suite.js';

/** The pages for integrators (docs/site/sections.json). Those for operators describe other machines. */
const pages = [
  ...globSync('docs/site/pages/*.md', { cwd: root }).toSorted(),
  'docs/client.md',
  'docs/test-mode.md',
  'docs/receiving-webhooks.md',
].map((file) => ({ file, blocks: programBlocks(file) }));

const isRun = (block: CodeBlock): boolean => block.noRun === undefined;
const pagesWithPrograms = pages.filter(({ blocks }) => blocks.some(isRun));
const isStart = ({ file }: { file: string }): boolean => file.includes('/start-');
const guides = pagesWithPrograms.filter((page) => !isStart(page));
/** The pages of each terminal: a start page; the guides continue in the terminal of the one about curl. */
const sessions = pagesWithPrograms.filter(isStart).map((start) => {
  const inOrder = start.file.endsWith('curl.md') ? [start, ...guides] : [start];
  return { inOrder, files: inOrder.map(({ file }) => file).join(', ') };
});
/** Number of blocks that are marked `no-run`. Update it only if a new block really cannot be run. */
const unrunBlockCount = 19;
const port = await freePort();

/** Replaces the addresses in code of the documentation by those of the suite under test. */
function adaptToSuite(code: string): string {
  return code
    .replaceAll('https://localhost:8443', suite.base_url)
    .replaceAll('../fulfilment-suite/.dev', stateDir)
    .replaceAll('../fulfilment-suite', root)
    .replaceAll(/\b3000\b/g, String(port));
}

/** Signs the demo account in whenever a program prints the URL of a sign-in. */
async function signInAsPrinted(session: ShellSession, usedUrls: Set<string>): Promise<void> {
  const urls = [...session.output().matchAll(/^Open (\S+)$/gm)].map(([, url = '']) => url);
  const url = urls.find((printed) => !usedUrls.has(printed));
  if (url === undefined) return;
  usedUrls.add(url);
  const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
  const redirect = await signInAndConsent(browser, url, demoUser('owner@harbour.example'));
  await fetch(redirect.url);
}

describe('the documentation', () => {
  let directory: string;
  let session: ShellSession;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'documentation-'));
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    session = new ShellSession(directory, { NODE_OPTIONS: '', SUITE_DEV_DIR: stateDir });
  });
  afterEach(async () => {
    await session.stop();
    rmSync(directory, { recursive: true });
  });

  it.each(sessions)('has code that works, block by block: $files', async ({ inOrder }) => {
    const usedUrls = new Set<string>();
    const problems: unknown[] = [];
    const signingIn = setInterval(() => {
      signInAsPrinted(session, usedUrls).catch((error: unknown) => problems.push(error));
    }, 100);
    try {
      for (const { code, title, prints } of inOrder.flatMap(({ blocks }) => blocks).filter(isRun)) {
        if (title !== undefined) {
          writeFileSync(join(directory, title), adaptToSuite(code));
          continue;
        }
        const printed = session.output().length;
        await session.run(adaptToSuite(code));
        if (prints === undefined) continue;
        const found = () => new RegExp(prints).test(session.output().slice(printed));
        await eventually(found, { describe: session.output });
      }
    } finally {
      clearInterval(signingIn);
    }
    expect(problems).toEqual([]);
  });

  it('has only programs that the tests run, or that are marked with the reason why not', () => {
    const unused = pages.flatMap(({ file, blocks }) => {
      const commands = blocks.filter((block) => block.language === 'sh' && isRun(block));
      const isUsed = ({ language, title }: CodeBlock): boolean =>
        language === 'sh' || (title !== undefined && commands.some(({ code }) => code.includes(title)));
      return blocks.filter((block) => isRun(block) && !isUsed(block)).map(({ code }) => [file, code]);
    });
    expect(unused).toEqual([]);
    expect(pages.flatMap(({ blocks }) => blocks).filter((block) => !isRun(block))).toHaveLength(
      unrunBlockCount,
    );
  });
});
