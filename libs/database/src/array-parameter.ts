/** Needs no quotes in an array's literal (PostgreSQL documentation §8.15.6). */
const plain = /^(?!null$)[^\s,{}"\\]+$/i;
const byteaOid = 17;
const headerBytes = 20;

/**
 * An array as PostgreSQL reads it, which pg would write element by element, each by several steps: an eighth of all that webhook-worker
 * allocated under load. Texts and numbers become a literal, bytes the binary form. Anything else, as dates or arrays in arrays, stays what it is.
 */
export function arrayParameter(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items: readonly unknown[] = value;
  const first = items.find((item) => item !== null && item !== undefined);
  return (Buffer.isBuffer(first) ? binary(items) : literal(items)) ?? value;
}

function literal(items: readonly unknown[]): string | undefined {
  const elements: string[] = [];
  for (const item of items) {
    if (typeof item === 'string') elements.push(plain.test(item) ? item : quoted(item));
    else if (item === null || item === undefined) elements.push('NULL');
    else if (typeof item === 'number' || typeof item === 'boolean') elements.push(String(item));
    else return undefined;
  }
  return `{${elements.join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Of `bytea[]` with one dimension (array_recv): dimensions, whether any is null, the type, how many, the first's index; then each with its length. */
function binary(items: readonly unknown[]): Buffer | undefined {
  let bytes = headerBytes;
  let nulls = 0;
  for (const item of items) {
    if (Buffer.isBuffer(item)) bytes += item.length;
    else if (item === null || item === undefined) nulls = 1;
    else return undefined;
    bytes += 4;
  }
  const array = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const field of [1, nulls, byteaOid, items.length, 1]) at = array.writeInt32BE(field, at);
  for (const item of items) {
    at = array.writeInt32BE(Buffer.isBuffer(item) ? item.length : -1, at);
    if (Buffer.isBuffer(item)) at += item.copy(array, at);
  }
  return array;
}
