import { html, type Html } from '../../html.js';

/**
 * Renders the subset of CommonMark in our descriptions: paragraphs, lists (`- `), headings (`### `) and
 * `code`.
 */
export function renderMarkdown(text: string | undefined): Html[] {
  if (text === undefined) return [];
  return text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map(blockOf);
}

function blockOf(block: string): Html {
  if (block.startsWith('### ')) {
    const title = block.slice(4);
    return html`<h3 id="${anchor(title)}">${inline(title)}</h3>`;
  }
  if (block.startsWith('- ')) {
    const items = block.split(/\n(?=- )/).map((item) => html`<li>${inline(item.slice(2))}</li>`);
    return html`<ul>
      ${items}
    </ul>`;
  }
  return html`<p>${inline(block)}</p>`;
}

/** Renders one line of a description. */
export function inline(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`));
}

export function anchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** An example of a parameter or header in its text form. */
export function exampleText(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}
