import type { Request } from 'express';
import { isReadable } from '../requests/unreadable-text.js';

/** One field of a form that was sent; empty when it is missing, sent twice or no readable text. */
export function field(request: Request, name: string): string {
  const form: unknown = request.body;
  const value: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, name) : undefined;
  return typeof value === 'string' && isReadable(value) ? value : '';
}
