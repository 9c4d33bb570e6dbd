import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Moves inline scripts, `<style>` elements and `style` attributes of the pages into files, so that one
 * Content-Security-Policy without hashes and without 'unsafe-inline' fits every page. Also makes tables and
 * code blocks focusable.
 */
export function moveInlineScriptsAndStyles(dist: string): void {
  const writeAsset = (content: string, extension: string): string => {
    const name = `_astro/${createHash('sha256').update(content).digest('hex').slice(0, 12)}.${extension}`;
    writeFileSync(join(dist, name), content);
    return `/docs/${name}`;
  };
  const styleNumbers = new Map<string, number>();
  const numberOf = (style: string): number => {
    const number = styleNumbers.get(style) ?? styleNumbers.size;
    styleNumbers.set(style, number);
    return number;
  };
  const pages = globSync('**/*.html', { cwd: dist }).map((name) => {
    const file = join(dist, name);
    const html = readFileSync(file, 'utf8')
      .replaceAll(
        /<script(?![^>]*\bsrc=)([^>]*)>([^]*?)<\/script>/g,
        (_, attributes: string, code: string) =>
          `<script${attributes} src="${writeAsset(code, 'js')}"></script>`,
      )
      .replaceAll(
        /<style[^>]*>([^]*?)<\/style>/g,
        (_, css: string) => `<link rel="stylesheet" href="${writeAsset(css, 'css')}">`,
      )
      .replaceAll(
        /(<[a-z][^<>]*?) style="([^"]*)"/g,
        (_, start: string, style: string) => `${start} data-style="${numberOf(style)}"`,
      )
      .replaceAll(/<(table|pre)\b(?=[ >])/g, '<$1 tabindex="0"'); // wide ones scroll, also by keyboard
    return { file, html };
  });
  const rules = [...styleNumbers].map(
    ([style, number]) => `[data-style="${number}"]{${style.replaceAll('&quot;', '"')}}\n`,
  );
  const styles = `<link rel="stylesheet" href="${writeAsset(rules.join(''), 'css')}">`;
  // The style sheet of Expressive Code selects coloured words by their style attribute, which has moved.
  for (const file of globSync('_astro/*.css', { cwd: dist }).map((name) => join(dist, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/\[style\^=["']?--["']?\]/g, '[data-style]'));
  for (const { file, html } of pages) writeFileSync(file, html.replace('</head>', `${styles}</head>`));
}
