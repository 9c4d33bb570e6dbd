import { createHash } from 'node:crypto';

/** SHA-256 of a validated body, whatever the order of its members. */
export function fingerprint(body: unknown): Buffer {
  return createHash('sha256').update(canonical(body)).digest();
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
