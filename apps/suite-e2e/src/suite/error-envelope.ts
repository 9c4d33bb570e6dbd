import type { Response } from 'supertest';
import { z } from 'zod';

/**
 * The envelope of the interface. Written out here, so that the tests notice a change of the code's own list.
 */
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

/**
 * Returns the error of a response.
 * @throws unless it is the error envelope in JSON, with the same status and a request id
 */
export function errorOf(response: Response): z.infer<typeof envelope> {
  const error = envelope.parse(response.body);
  if (error.statusCode !== response.status)
    throw new Error(`The error with the status ${response.status} has the statusCode ${error.statusCode}.`);
  if (!response.type.startsWith('application/json'))
    throw new Error(`The error has the type ${response.type}.`);
  if (response.get('x-request-id') === undefined) throw new Error('The error has no X-Request-Id.');
  return error;
}

/** Returns the fields in the details of the error. */
export function fieldsOf(response: Response): string[] {
  return (errorOf(response).details ?? []).map(({ field }) => field);
}
