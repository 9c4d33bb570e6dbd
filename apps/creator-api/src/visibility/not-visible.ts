import type { ErrorDoc } from '@fulfilment/api-reference';
import { NotFound } from '@fulfilment/error-envelope';

/** The 404 of an operation in the API reference. */
export function notVisible(resource: string): ErrorDoc {
  return {
    when: `The ${resource} does not exist, or is not visible to you.`,
    example: new NotFound(resource),
  };
}
