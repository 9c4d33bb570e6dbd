/** Markup that is sent as it is. `html` creates it; use the constructor only for the output of a library. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Html[];

/** Creates markup. Text is escaped, for content and quoted attributes; undefined inserts nothing. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = literals[0] ?? '';
  parts.forEach((part, index) => {
    text += markup(part) + (literals[index + 1] ?? '');
  });
  return new Html(text);
}

function markup(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  return part.map((item) => item.text).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
