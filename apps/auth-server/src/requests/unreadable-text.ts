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

/** Whether all text in JSON is readable. @throws SyntaxError when it is none */
export function isReadableJson(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  let readable = true;
  JSON.parse(body.toString(), (name: string, value: unknown) => {
    readable &&= isReadable(name) && (typeof value !== 'string' || isReadable(value));
    return value;
  });
  return readable;
}

function byteOf(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
