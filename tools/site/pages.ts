import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';

const sectionsSchema = z.array(
  z.object({
    label: z.string(),
    pages: z.array(z.object({ slug: z.string(), file: z.string(), append: z.string().optional() })),
  }),
);

/** A page of the documentation site, made of a Markdown file of the repository. */
export interface Page {
  /** Path below `/docs/`; `index` is the first page. */
  readonly slug: string;
  /** Path of the source from the root of the repository. */
  readonly file: string;
  readonly section: string;
  readonly title: string;
  /**
   * The beginning of the first paragraph of prose, without markup: up to the first full stop or colon after
   * 20 characters, or else the first 200 characters.
   */
  readonly description: string;
  /** Markdown without the title. */
  readonly text: string;
}

/** The path at which the gateway serves the content of a file that is not a page of the site. */
const servedElsewhere: Readonly<Record<string, string>> = {
  'docs/reference/store.md': '/store/docs',
  'docs/reference/creator.md': '/creator/docs',
  'docs/reference/store.openapi.json': '/store/openapi.json',
  'docs/reference/creator.openapi.json': '/creator/openapi.json',
  'docs/reference/asyncapi.json': '/docs/asyncapi.json',
  'libs/webhook-verifier/vectors.json': '/docs/downloads/webhook-vectors.json',
};

/** Reads the pages of `docs/site/sections.json`, in the order of the sidebar. */
export function readPages(): Page[] {
  const sections: unknown = JSON.parse(readFileSync(join(root, 'docs/site/sections.json'), 'utf8'));
  return sectionsSchema.parse(sections).flatMap(({ label, pages }) =>
    pages.map(({ slug, file, append }) => {
      const appended = append === undefined ? [] : globSync(append, { cwd: root }).toSorted();
      const source = [read(file), ...appended.map(asSection)].join('\n');
      const [, title, text] = /^# (.+)\n([^]*)$/.exec(source) ?? [];
      if (title === undefined || text === undefined) throw new Error(`${file} does not begin with a title.`);
      const description = descriptionOf(text);
      return { slug, file, section: label, title, description, text: withExamples(text, dirname(file)) };
    }),
  );
}

/** The text of a file without the note that it is generated. */
function read(file: string): string {
  return readFileSync(join(root, file), 'utf8').replace(/^<!--[^]*?-->\n+/, '');
}

/** Replaces a link to an example by its code, because readers of the site do not have the repository. */
function withExamples(text: string, folder: string): string {
  return text.replaceAll(/^\[\S+\]\((examples\/\S+\.(\w+))\)$/gm, (_, path: string, language: string) =>
    ['```' + language, read(join(folder, path)).trim(), '```'].join('\n'),
  );
}

/** A file as a section with the title of its folder; the headings of the file become one level deeper. */
function asSection(file: string): string {
  return `## ${basename(dirname(file))}\n\n${read(file).replaceAll(/^#/gm, '##')}`;
}

function descriptionOf(text: string): string {
  const paragraph =
    text
      .trim()
      .split(/\n{2,}/)
      .find((block) => /^(?!```|[\s#<|>-])/.test(block)) ?? '';
  const plain = paragraph
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.{20,200}?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain.slice(0, 200);
}

/**
 * Returns the text of a page with links that work on the site. A link to a file that is not on the site
 * loses its target, because readers of the site do not have the repository.
 * @param address gives the URL of a page of the site
 */
export function withSiteLinks(page: Page, pages: readonly Page[], address: (page: Page) => string): string {
  return outsideCode(withInlineLinks(withoutTestInstructions(page.text)), (part) =>
    part.replaceAll(
      /(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/g,
      (whole, image: string, label: string, target: string) => {
        if (/^([a-z]+:|#|\/)/.test(target)) return whole;
        const [path = '', fragment] = target.split('#');
        const file = join(dirname(page.file), path);
        if (image !== '') return `![${label}](/docs/figures/${basename(file)})`;
        const linked = pages.find((candidate) => candidate.file === file);
        const url = linked === undefined ? servedElsewhere[file] : address(linked);
        if (url === undefined) return label;
        // The repository names files; readers of the site know pages by their titles.
        const text = linked !== undefined && label.endsWith('.md') ? linked.title : label;
        return `[${text}](${url}${fragment === undefined ? '' : `#${fragment}`})`;
      },
    ),
  );
}

/** Removes the instructions for tests (apps/suite-e2e) in the first line of a code block. Keeps its title. */
function withoutTestInstructions(text: string): string {
  return text.replaceAll(/^(```\w+)( title="[^"]+")?.*$/gm, '$1$2');
}

/**
 * Where the text defines `[id]: target`, replaces `[label][id]` by `[label](target)`, and `[id]` before a
 * space by `[id](target)`.
 */
function withInlineLinks(text: string): string {
  const definition = /^\[([^\]]+)\]: (\S+)\n/gm;
  const definitions = [...text.matchAll(definition)];
  return definitions.reduce(
    (changed, [, id = '', target = '']) =>
      changed.replaceAll(`][${id}]`, `](${target})`).replaceAll(`[${id}] `, `[${id}](${target}) `),
    text.replaceAll(definition, ''),
  );
}

/** Changes the parts of a Markdown text that are outside fenced code blocks. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(^```[^]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}
