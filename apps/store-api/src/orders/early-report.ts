/** Thrown by a move that what has not been reported yet would make possible. The report waits for it. */
export class EarlyReport extends Error {
  override readonly name = 'EarlyReport';

  constructor(
    /** UUID of the order. */
    readonly orderId: string,
    message: string,
  ) {
    super(message);
  }
}
