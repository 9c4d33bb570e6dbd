/** Fields that are not printed as `name=value`: the line begins with some, and omits the rest. */
const fieldsWithoutName = new Set([
  'level',
  'time',
  'service',
  'message',
  'pid',
  'hostname',
  'trace_id',
  'request_id',
]);
/** ANSI codes of colours. */
const [noColour, red, yellow, cyan, grey] = ['0', '31', '33', '36', '90'] as const;
const levelColours: Readonly<Record<string, string>> = { warn: yellow, error: red, fatal: red };
const nameWidth = 'webhook-worker'.length; // the longest name

/** Formats a JSON log line of a part as one short line. Puts only the part's name before other text. */
export function readableLine(part: string, line: string, colours: boolean): string {
  const paint = (colour: string, words: string): string =>
    colours ? `\u001b[${colour}m${words}\u001b[${noColour}m` : words;
  const fields = parseFields(line);
  const label = paint(cyan, part.padEnd(nameWidth));
  if (fields === undefined) return `${' '.repeat(8)} ${label} ${line}`;
  const level = text(fields.level);
  const time = text(fields.time).slice(11, 19).padEnd(8);
  const message = paint(levelColours[level] ?? noColour, text(fields.message));
  const rest = Object.entries(fields)
    .filter(([field]) => !fieldsWithoutName.has(field))
    .map(([field, value]) => `${field}=${formatValue(value)}`);
  return [paint(grey, time), label, message, paint(grey, rest.join(' '))].join(' ').trimEnd();
}

function parseFields(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return value instanceof Object ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return /[\s"]/.test(value) ? JSON.stringify(value) : value;
  if (value instanceof Object && 'message' in value && typeof value.message === 'string') {
    return JSON.stringify(value.message);
  }
  return JSON.stringify(value);
}
