import { isUtf8 } from 'node:buffer';

const escapes = /%([0-9a-f]{2})/gi;

/** Text PostgreSQL has no place for: U+0000 and halves of surrogate pairs. */
export function isReadable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether text written in a URL or form, `%XX` and all, is UTF-8 without U+0000. */
export function isReadableWhenDecoded(encoded: Buffer | string): boolean {
  const text = typeof encoded === 'string' ? encoded : encoded.toString('latin1');
  if (typeof encoded !== 'string' && !text.includes('%')) return isUtf8(encoded) && !text.includes('\0');
  const bytes = Buffer.from(text.replace(escapes, byteOf), 'latin1');
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Deeper, and more, than any metadata of a client. */
const maxDepth = 8;
const maxMembers = 500;

/**
 * Whether JSON is UTF-8, all its text is readable, and it is neither deeper nor larger than the metadata of a client can be.
 * @throws SyntaxError when it is no JSON
 */
export function isReadableJson(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  let left = maxMembers;
  const isAcceptable = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') return isReadable(value);
    if (typeof value !== 'object' || value === null) return true;
    const members = Object.entries(value);
    left -= members.length;
    if (left < 0 || depth === maxDepth) return false;
    return members.every(([name, member]) => isReadable(name) && isAcceptable(member, depth + 1));
  };
  return isAcceptable(JSON.parse(body.toString()), 0);
}

function byteOf(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
