interface Counted {
  readonly payment_status: string;
  readonly dispatch_status: string;
}

export interface CountMove extends Counted {
  readonly creator_id: string;
  readonly placed_on: string;
  readonly orders: number;
}

/** By how much each count of orders changes: one more for an order added, one from here to there for an order moved. */
export function countMoves(
  added: readonly (Counted & { readonly creator_id: string; readonly placed_at: string })[],
  moved: readonly {
    readonly before: Counted & { readonly placed_on: string };
    readonly after: Counted & { readonly creator_id: string };
  }[],
): CountMove[] {
  const moves = new Map<string, CountMove>();
  const add = (
    creatorId: string,
    placedOn: string,
    { payment_status, dispatch_status }: Counted,
    by: number,
  ) => {
    const key = `${creatorId} ${placedOn} ${payment_status} ${dispatch_status}`;
    const orders = (moves.get(key)?.orders ?? 0) + by;
    moves.set(key, { creator_id: creatorId, placed_on: placedOn, payment_status, dispatch_status, orders });
  };
  for (const order of added) add(order.creator_id, order.placed_at.slice(0, 10), order, 1);
  for (const { before, after } of moved) {
    add(after.creator_id, before.placed_on, before, -1);
    add(after.creator_id, before.placed_on, after, 1);
  }
  return [...moves.values()].filter((move) => move.orders !== 0);
}
