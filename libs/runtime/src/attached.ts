const attached = Symbol('attached');

interface Owner<Value> {
  [attached]?: { [key: symbol]: Value | undefined };
}

/** `Owner` has only an optional member, so TypeScript accepts any object as one without a cast. */
function ownerOf<Value>(object: object): Owner<Value> {
  return object;
}

/**
 * Values that are attached to objects, such as requests. A WeakMap would do the same, but a long-lived
 * one keeps the values of unreachable objects until the next major garbage collection.
 */
export class Attached<Value> {
  private readonly key = Symbol();

  get(object: object): Value | undefined {
    return ownerOf<Value>(object)[attached]?.[this.key];
  }

  set(object: object, value: Value): void {
    (ownerOf<Value>(object)[attached] ??= {})[this.key] = value;
  }

  delete(object: object): void {
    const values = ownerOf<Value>(object)[attached];
    if (values !== undefined) values[this.key] = undefined;
  }
}
