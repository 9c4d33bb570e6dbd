import { z } from 'zod';

const errorBody = z.object({ details: z.array(z.object({ field: z.string() })).default([]) });

/** Whether the response is a 400 that names this field, a member of it, or the list or object around it. */
export function mentionsField(field: string, { status, body }: { status: number; body: unknown }): boolean {
  if (status !== 400) return false;
  const isWithin = (inner: string, outer: string): boolean => `${inner}.`.startsWith(`${outer}.`);
  return errorBody
    .parse(body)
    .details.some((detail) => isWithin(detail.field, field) || isWithin(field, detail.field));
}
