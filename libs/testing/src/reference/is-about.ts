import { z } from 'zod';

const refusal = z.object({ details: z.array(z.object({ field: z.string() })).default([]) });

/** Whether the validation found fault with this place. Of an item that is no object at all it says so of the list. */
export function isAbout(field: string, { status, body }: { status: number; body: unknown }): boolean {
  if (status !== 400) return false;
  const within = (inner: string, outer: string): boolean => `${inner}.`.startsWith(`${outer}.`);
  return refusal
    .parse(body)
    .details.some((detail) => within(detail.field, field) || within(field, detail.field));
}
