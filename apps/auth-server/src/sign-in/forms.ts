import type { Request } from 'express';

/** One field of a form that was sent; empty when it is missing or sent twice. */
export function field(request: Request, name: string): string {
  const form: unknown = request.body;
  const value: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, name) : undefined;
  return typeof value === 'string' ? value : '';
}
