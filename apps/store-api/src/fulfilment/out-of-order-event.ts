/**
 * Thrown for a fulfilment event that needs another one first. The event is deferred until that one arrives.
 */
export class OutOfOrderEvent extends Error {
  override readonly name = 'OutOfOrderEvent';

  constructor(
    /** UUID of the order. */
    readonly orderId: string,
    message: string,
  ) {
    super(message);
  }
}
