import { openChromium } from '@fulfilment/testing/chromium';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { gunzipSync } from 'node:zlib';
import { suite } from '../suite/the-suite.js';
import { fetchFromSuite } from '../suite/fetch-from-suite.js';

const site = `${suite.base_url}/docs/`;
const read = async (path: string): Promise<string> => (await fetchFromSuite(new URL(path, site))).text();

/** Paths of all pages, from llms.txt, the index for language models. */
const paths = [...(await read('llms.txt')).matchAll(/^- \[.*?\]\((\S+)\.md\): /gm)].map(([, path = '']) =>
  path === '/docs/index' ? '/docs/' : `${path}/`,
);
const htmlOf = new Map(
  await Promise.all(paths.map(async (path): Promise<[string, string]> => [path, await read(path)])),
);

/** Opens a page. Returns its errors, requests to other servers, sideways scrolling and WCAG violations. */
async function findProblems(page: Page, path: string): Promise<unknown[]> {
  const problems: unknown[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(suite.base_url)) problems.push(request.url());
  });
  await page.goto(new URL(path, site).href);
  const isTooWide = await page.locator('html').evaluate((html) => html.scrollWidth > html.clientWidth);
  if (isTooWide) problems.push('The page scrolls sideways.');
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (tags) => axe.run({ runOnly: tags, resultTypes: ['violations'] }),
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  );
  problems.push(...violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]));
  return problems.map((problem) => [path, problem]);
}

describe('the documentation site', () => {
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(() => chromium.close());

  /** Opens two pages at a time, so that one is checked while the other waits for its files. */
  async function findProblemsOfPages(
    pages: readonly string[],
    options: BrowserContextOptions,
  ): Promise<unknown[]> {
    const context = await chromium.newContext({ ...options, ignoreHTTPSErrors: true });
    context.setDefaultTimeout(120_000);
    const found: unknown[] = [];
    const waiting = [...pages];
    const checkWaiting = async (): Promise<void> => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const page = await context.newPage();
        found.push(...(await findProblems(page, path)));
        await page.close();
      }
    };
    await Promise.all([checkWaiting(), checkWaiting()]);
    await context.close();
    return found;
  }

  it('has pages that meet WCAG 2.2 AA, violate no content security policy and load nothing from other servers', async () => {
    expect(paths.length).toBeGreaterThan(25); // otherwise llms.txt was not parsed
    expect(await findProblemsOfPages(paths, { colorScheme: 'light' })).toEqual([]);
  }, 600_000);

  it.each<[string, BrowserContextOptions]>([
    ['in dark mode', { colorScheme: 'dark' }],
    ['on a small screen', { viewport: { width: 320, height: 640 } }],
  ])('has pages without problems %s', async (_, options) => {
    expect(
      await findProblemsOfPages(['/docs/', '/docs/start/typescript/', '/docs/guides/concepts/'], options),
    ).toEqual([]);
  });

  it('finds a page by a word in its text', async () => {
    const page = await chromium.newPage({ ignoreHTTPSErrors: true });
    await page.goto(site);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByPlaceholder('Search').fill('body_mismatch');
    await page.getByRole('dialog').getByRole('link', { name: 'Idempotency' }).first().click();
    await page.waitForURL('**/guides/idempotency/**');
  });

  it('links only to pages and sections that exist', async () => {
    const broken: string[] = [];
    for (const [path, html] of htmlOf)
      for (const [, href = ''] of html.matchAll(/<a\b[^>]*? href="([^"]+)"/g)) {
        const target = new URL(href.replaceAll('&amp;', '&'), new URL(path, site));
        if (target.origin !== new URL(site).origin) continue;
        const known = htmlOf.get(target.pathname);
        const text = known ?? (await textOf(target));
        const id = decodeURIComponent(target.hash.slice(1));
        const hasSection = ['', '_top'].includes(id) || text?.includes(`id="${id}"`) === true;
        if (text === undefined || !hasSection) broken.push(`${path}: ${href}`);
      }
    expect([...new Set(broken)]).toEqual([]);
  });

  it('has a content security policy without inline code and other servers', async () => {
    const { headers } = await fetchFromSuite(site);
    const policy = headers.get('content-security-policy');
    // The search runs WebAssembly.
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe-inline|https?:|\*/);
  });

  it('offers the packages that its pages install for download', async () => {
    const installed = [...htmlOf.values()].flatMap(
      (html) => html.match(/fulfilment-client-[\d.]+tgz/g) ?? [],
    );
    expect(new Set(installed).size).toBe(1);
    const [client = ''] = installed;
    for (const name of [client, client.replace('client', 'cli')]) {
      const response = await fetchFromSuite(new URL(`downloads/${name}`, site));
      const file = gunzipSync(Buffer.from(await response.arrayBuffer()));
      expect(file.includes('package/package.json')).toBe(true);
    }
  });

  it('has each page as Markdown', async () => {
    for (const path of paths) {
      const markdown = await read(path === '/docs/' ? 'index.md' : `${path.slice(0, -1)}.md`);
      expect([path, markdown]).toEqual([path, expect.stringMatching(/^# \S/)]);
    }
  });
});

const otherTexts = new Map<string, Promise<string | undefined>>();

/** Returns the text of a target that is no page of the site; undefined if it does not exist. */
function textOf({ pathname }: URL): Promise<string | undefined> {
  const known = otherTexts.get(pathname) ?? fetchText(pathname);
  otherTexts.set(pathname, known);
  return known;
}

async function fetchText(pathname: string): Promise<string | undefined> {
  const response = await fetchFromSuite(new URL(pathname, site));
  return response.ok ? response.text() : undefined;
}
