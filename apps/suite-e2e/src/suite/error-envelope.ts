import type { Response } from 'supertest';
import { z } from 'zod';

export const envelope = z.strictObject({
  statusCode: z.number(),
  code: z.enum([
    'VALIDATION_ERROR',
    'UNAUTHORIZED',
    'FORBIDDEN',
    'NOT_FOUND',
    'CONFLICT',
    'UNPROCESSABLE_ENTITY',
    'RATE_LIMITED',
    'SERVICE_UNAVAILABLE',
    'INTERNAL_ERROR',
  ]),
  error: z.string().min(1),
  message: z.string().min(1),
  details: z.array(z.strictObject({ field: z.string(), reason: z.string() })).optional(),
});

/** The answer's error, checked to be exactly the envelope, with the status it repeats and an id. */
export function errorOf(answer: Response): z.infer<typeof envelope> {
  const error = envelope.parse(answer.body);
  if (error.statusCode !== answer.status) throw new Error(`${answer.status} says ${error.statusCode}.`);
  if (!answer.type.startsWith('application/json')) throw new Error(`The error came as ${answer.type}.`);
  if (answer.get('x-request-id') === undefined) throw new Error('The error came without X-Request-Id.');
  return error;
}

/** The fields its details name. */
export function fieldsOf(answer: Response): string[] {
  return (errorOf(answer).details ?? []).map(({ field }) => field);
}
