/**
 * Returns the UTC day of the time in a UUIDv7 (RFC 9562 §5.7); for any other id, the day of `occurredAt`. The
 * same message always has the same day.
 */
export function eventDay(id: string, occurredAt: string): string {
  const isVersion7 = id.charAt(14) === '7';
  const time = isVersion7 ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : occurredAt;
  return new Date(time).toISOString().slice(0, 10);
}
