import type { Request } from 'express';
import { isStorableText } from '../http/storable-text.js';

/** In UTF-16 code units; no valid field is longer. */
const maxFieldLength = 4096;

/** A field of a submitted form; empty when it is missing, too long, repeated or not storable text. */
export function field(request: Request, name: string): string {
  const form: unknown = request.body;
  const value: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, name) : undefined;
  const isValid = typeof value === 'string' && value.length <= maxFieldLength && isStorableText(value);
  return isValid ? value : '';
}
