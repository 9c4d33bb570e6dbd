import { Field } from '@fulfilment/api-reference';

/**
 * Whether the text is an existing day, YYYY-MM-DD. 2026-02-30 does not exist, and PostgreSQL has no days of
 * the year 0000.
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
