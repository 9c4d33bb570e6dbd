/**
 * Returns the UTC day in a UUIDv7 (RFC 9562 §5.7), else that of `occurredAt`. The same message always has the
 * same day.
 */
export function eventDay(id: string, occurredAt: string): string {
  const isVersion7 = id.charAt(14) === '7';
  const at = isVersion7
    ? new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
    : new Date(occurredAt);
  return at.toISOString().slice(0, 10);
}
