import { ValidationFailed } from './problems.js';

/** Deeper than any documented body. */
const maxDepth = 32;
/** Several times what any documented body needs: class-transformer and class-validator walk each member more than once. */
const maxMembers = 5_000;
/** Several times what any documented object has: class-transformer's time grows with the square of the members of one object. */
const maxMembersOfObject = 200;

/** Names that mean something on every object: class-transformer would take what a caller put there for the class of a value. */
const inherited = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Deep copy of parsed JSON without members that are null. Elements of arrays stay: they have a place.
 * @throws ValidationFailed on `body` when the JSON is nested too deeply, or it or one of its objects has too many members
 */
export function boundedCopy(value: unknown): unknown {
  let members = 0;
  const count = (more: number): void => {
    members += more;
    if (members > maxMembers) reject(`must have at most ${maxMembers} members`);
  };
  const copy = (part: unknown, depth: number): unknown => {
    if (depth > maxDepth) reject('is nested too deeply');
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
