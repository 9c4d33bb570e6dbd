/** A table; empty without rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => text(cell).replaceAll('|', '\\|').replaceAll(/\n+/g, '<br>')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A heading that links to itself. */
export function heading(depth: number, id: string, title: string): string {
  return `${'#'.repeat(depth)} <a id="${id}" href="#${id}">${text(title)}</a>`;
}

/** Escapes markup outside `code`. */
export function text(given: string): string {
  return given.replaceAll(/(`[^`\n]*`)|</g, (_, code: string | undefined) => code ?? '&lt;');
}

export function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

export function anchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
