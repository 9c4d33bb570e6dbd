import { ValidationFailed } from '@fulfilment/error-envelope';

/** Every documented body has fewer levels. */
const maxDepth = 32;
/** Several times the need of every documented body. Conversion and validation visit members repeatedly. */
const maxMembers = 5_000;
/** Several times the need of every documented object. The time of class-transformer is quadratic in it. */
const maxMembersOfObject = 200;

/** class-transformer would use a client's `constructor` as a class; `__proto__` replaces the prototype. */
const reservedNames = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a deep copy of parsed JSON without members that are null or have a reserved name. Null elements of
 * arrays are kept, so that the others keep their positions.
 * @throws ValidationFailed for `body` if it is nested too deeply, has too many members in all, or contains an
 *   object with too many members
 */
export function sanitizedCopy(value: unknown): unknown {
  let members = 0;
  const countMembers = (added: number): void => {
    members += added;
    if (members > maxMembers) reject(`must have at most ${maxMembers} members`);
  };
  const copy = (part: unknown, depth: number): unknown => {
    if (depth > maxDepth) reject(`must have at most ${maxDepth} levels of nesting`);
    if (Array.isArray(part)) {
      countMembers(part.length);
      return part.map((item) => copy(item, depth + 1));
    }
    if (typeof part !== 'object' || part === null) return part;
    const names = Object.keys(part);
    if (names.length > maxMembersOfObject) {
      reject(`must have at most ${maxMembersOfObject} members in one object`);
    }
    countMembers(names.length);
    const copied: Record<string, unknown> = {};
    for (const name of names) {
      const member: unknown = Reflect.get(part, name);
      if (member !== null && !reservedNames.has(name)) copied[name] = copy(member, depth + 1);
    }
    return copied;
  };
  return copy(value, 0);
}

function reject(reason: string): never {
  throw new ValidationFailed([{ field: 'body', reason }]);
}
