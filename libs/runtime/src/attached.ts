const attached = Symbol('attached');

interface Owner<Value> {
  [attached]?: { [slot: symbol]: Value | undefined };
}

/**
 * Values that belong to objects such as requests, and live as long as these. Like a WeakMap, for many
 * short-lived objects: a WeakMap in use for long keeps the values of dead objects until the next full garbage
 * collection, so that every collection before copies them.
 */
export class Attached<Value> {
  private readonly slot = Symbol();

  get(object: object): Value | undefined {
    const owner: Owner<Value> = object;
    return owner[attached]?.[this.slot];
  }

  set(object: object, value: Value): void {
    const owner: Owner<Value> = object;
    (owner[attached] ??= {})[this.slot] = value;
  }

  delete(object: object): void {
    const owner: Owner<Value> = object;
    if (owner[attached] !== undefined) owner[attached][this.slot] = undefined;
  }
}
