import { Field } from '@fulfilment/api-reference';

/**
 * True for an existing day, YYYY-MM-DD: not 2026-02-30, and no day of the year 0000, which PostgreSQL does
 * not have.
 */
function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export function DateParameter(): PropertyDecorator {
  return Field({
    name: 'dateParameter',
    schema: { type: 'string', format: 'date', pattern: '^(?!0000)' },
    holds: (value) => typeof value === 'string' && isCalendarDate(value),
    reason: () => 'must be a date, YYYY-MM-DD',
  });
}
