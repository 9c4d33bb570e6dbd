import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../dev/settings.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Files that a Markdown document links to, relative to the root. Links inside code blocks do not count. */
function linkedFiles(file: string, text = read(file)): string[] {
  const targets = [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)];
  return targets
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(file), target));
}

describe('the documentation', () => {
  it.each([
    'README.md',
    ...globSync(['docs/{*,adr/*,reference/*,site/pages/*}.md', '{apps,libs}/*/*.md'], { cwd: root }),
  ])('links only to files that exist: %s', (file) => {
    expect(linkedFiles(file).filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it.each(['placing an order', 'a token refresh', 'a webhook delivery', 'a track upload'])(
    'has more than ten steps for %s, each with a link to a file',
    (path) => {
      const [, section = ''] = read('docs/architecture.md').split(`## The path of ${path}\n`);
      const steps = [...(section.split('\n## ')[0] ?? '').matchAll(/^\d+\. .*$/gm)].map(([step]) => step);
      expect(steps.length).toBeGreaterThan(10); // fewer: the heading or the pattern no longer matches
      expect(steps.filter((step) => linkedFiles('docs/architecture.md', step).length === 0)).toEqual([]);
    },
  );
});
