const attached = Symbol('attached');

interface Owner<Value> {
  [attached]?: { [slot: symbol]: Value | undefined };
}

/**
 * Values that are attached to objects such as requests, like a WeakMap for many short-lived objects. A
 * long-lived WeakMap keeps the values of dead objects until the next full garbage collection, and every
 * smaller collection until then copies them.
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
