import type { Request } from 'express';
import { isReadable } from '../requests/unreadable-text.js';

/** In UTF-16 code units; no field of ours takes as much. */
const maxFieldLength = 4096;

/** One field of a form that was sent; empty when it is missing, too long, sent twice or no readable text. */
export function field(request: Request, name: string): string {
  const form: unknown = request.body;
  const value: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, name) : undefined;
  const isTaken = typeof value === 'string' && value.length <= maxFieldLength && isReadable(value);
  return isTaken ? value : '';
}
