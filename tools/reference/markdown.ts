/** A table; empty without rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => escapeMarkup(cell).replaceAll('|', '\\|').replaceAll(/\n+/g, '<br>')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A heading that links to itself. */
export function heading(depth: number, id: string, title: string): string {
  return `${'#'.repeat(depth)} <a id="${id}" href="#${id}">${escapeMarkup(title)}</a>`;
}

/** Escapes HTML outside of `code`. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/(`[^`\n]*`)|</g, (_, code: string | undefined) => code ?? '&lt;');
}

export function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

export function anchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
