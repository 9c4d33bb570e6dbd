import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runOrThrow } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { moveInlineScriptsAndStyles } from './move-inline-scripts-and-styles.ts';
import { type Page, readPages, withSiteLinks } from './pages.ts';

// Builds the documentation site into docs/site/dist/docs (ADR 61).
const site = join(root, 'docs', 'site');
const dist = join(site, 'dist', 'docs');

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const pathOf = ({ slug }: Page): string => (slug === 'index' ? '/docs/' : `/docs/${slug}/`);
const markdownPathOf = ({ slug }: Page): string => `/docs/${slug}.md`;

function frontMatter({ title, description, slug }: Page): string {
  const members = { title, description, slug: slug === 'index' ? '' : slug };
  return `---\n${Object.entries(members)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n`;
}

/** The index for language models, https://llmstxt.org. */
function llmsIndex(pages: readonly Page[]): string {
  const [first] = pages;
  const sections = Map.groupBy(pages, ({ section }) => section);
  const link = (page: Page): string => `- [${page.title}](${markdownPathOf(page)}): ${page.description}`;
  return [
    `# ${first?.title ?? ''}`,
    `> ${first?.description ?? ''}`,
    ...[...sections].flatMap(([section, pagesOfSection]) => [
      `## ${section}`,
      pagesOfSection.map(link).join('\n'),
    ]),
  ].join('\n\n');
}

/**
 * Puts figures into the page, so that they have the colours of its theme. On small screens they scroll,
 * also by keyboard (`tabindex`).
 */
function withInlineFigures(text: string): string {
  return text.replaceAll(/!\[([^\]]*)\]\(\/docs\/figures\/(\S+)\)/g, (_, label: string, name: string) => {
    const svg = readFileSync(join(site, 'figures', name), 'utf8').trim();
    return `<div class="figure" tabindex="0">${svg.replace('<svg ', `<svg role="img" aria-label="${label}" `)}</div>`;
  });
}

const pages = readPages();
// Astro reads the pages from .pages (docs/site/src/content.config.ts).
rmSync(join(site, '.pages'), { recursive: true, force: true });
for (const page of pages)
  write(
    join(site, '.pages', `${page.slug}.md`),
    frontMatter(page) + withInlineFigures(withSiteLinks(page, pages, pathOf)),
  );
await runOrThrow(process.execPath, [join(root, 'node_modules', 'astro', 'bin', 'astro.mjs'), 'build'], {
  cwd: site,
  env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
});
moveInlineScriptsAndStyles(dist);
for (const page of pages)
  write(join(dist, `${page.slug}.md`), `# ${page.title}\n${withSiteLinks(page, pages, markdownPathOf)}`);
cpSync(join(root, 'docs', 'reference', 'asyncapi.json'), join(dist, 'asyncapi.json'));
cpSync(join(site, 'figures'), join(dist, 'figures'), { recursive: true });
write(join(dist, 'llms.txt'), `${llmsIndex(pages)}\n`);
const downloads = join(dist, 'downloads');
mkdirSync(downloads, { recursive: true });
cpSync(join(root, 'libs', 'webhook-verifier', 'vectors.json'), join(downloads, 'webhook-vectors.json'));
// Integrators install these packages from the site, as they are in no package registry.
const packages = ['-w', '@fulfilment/client', '-w', '@fulfilment/cli'];
await runOrThrow('npm', ['pack', ...packages, '--pack-destination', downloads], { cwd: root });
