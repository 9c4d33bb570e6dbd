import { Field } from '@fulfilment/api-reference';
import { z } from 'zod';

/** An existing day. PostgreSQL has no days of the year 0000. */
const day = z.iso.date().refine((text) => !text.startsWith('0000'));

export function DateParameter(): PropertyDecorator {
  return Field({
    name: 'dateParameter',
    schema: { type: 'string', format: 'date', pattern: '^(?!0000)' },
    holds: (value) => day.safeParse(value).success,
    reason: () => 'must be a date, YYYY-MM-DD',
  });
}
