import { isUtf8 } from 'node:buffer';

const escapes = /%([0-9a-f]{2})/gi;

/** Whether PostgreSQL can store a text: it has no U+0000 and no lone surrogates. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether percent-encoded text of a URL or form decodes to UTF-8 without U+0000. */
export function decodesToStorableText(encoded: Buffer | string): boolean {
  // In latin1, each byte is one character.
  const text = typeof encoded === 'string' ? encoded : encoded.toString('latin1');
  const bytes = Buffer.from(
    text.replace(escapes, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Limits of a JSON body; valid client metadata is far below them. */
const maxDepth = 8;
const maxMembers = 500;

/**
 * Whether JSON is UTF-8, has only text that can be stored, and exceeds neither `maxDepth` nor `maxMembers`.
 * @throws SyntaxError when it is not JSON
 */
export function isAcceptableJson(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  let membersLeft = maxMembers;
  const checkAndCount = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') return isStorableText(value);
    if (typeof value !== 'object' || value === null) return true;
    const members = Object.entries(value);
    membersLeft -= members.length;
    if (membersLeft < 0 || depth === maxDepth) return false;
    return members.every(([name, member]) => isStorableText(name) && checkAndCount(member, depth + 1));
  };
  return checkAndCount(JSON.parse(body.toString()), 0);
}
