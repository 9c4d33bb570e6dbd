import { ValidationFailed } from './problems.js';

/** Deeper than any documented body. */
const maxDepth = 32;
/**
 * Several times the need of any documented body. class-transformer and class-validator visit each member more
 * than once.
 */
const maxMembers = 5_000;
/**
 * Several times the need of any documented object. class-transformer's time grows with the square of an
 * object's members.
 */
const maxMembersOfObject = 200;

/** Inherited by every object: class-transformer would use a client's value as the class. */
const inherited = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a deep copy of parsed JSON without members that are null. Null elements of arrays stay, since they
 * have a position.
 * @throws ValidationFailed on `body` when the JSON is nested too deeply, or it or one of its objects has too
 * many members
 */
export function boundedCopy(value: unknown): unknown {
  let members = 0;
  const count = (more: number): void => {
    members += more;
    if (members > maxMembers) reject(`must have at most ${maxMembers} members`);
  };
  const copy = (part: unknown, depth: number): unknown => {
    if (depth > maxDepth) reject(`must have at most ${maxDepth} levels of nesting`);
    if (Array.isArray(part)) {
      count(part.length);
      return part.map((item) => copy(item, depth + 1));
    }
    if (typeof part !== 'object' || part === null) return part;
    const names = Object.keys(part);
    if (names.length > maxMembersOfObject) {
      reject(`must have at most ${maxMembersOfObject} members in one object`);
    }
    count(names.length);
    const copied: Record<string, unknown> = {};
    for (const name of names) {
      const member: unknown = Reflect.get(part, name);
      if (member !== null && !inherited.has(name)) copied[name] = copy(member, depth + 1);
    }
    return copied;
  };
  return copy(value, 0);
}

function reject(reason: string): never {
  throw new ValidationFailed([{ field: 'body', reason }]);
}
