interface Counted {
  readonly payment_status: string;
  readonly dispatch_status: string;
}

export interface CountChange extends Counted {
  readonly creator_id: string;
  readonly placed_on: string;
  readonly orders: number;
}

/**
 * Returns the change of each order count: +1 for an added order; -1 and +1 for an order whose statuses
 * changed.
 */
export function countChanges(
  added: readonly (Counted & { readonly creator_id: string; readonly placed_at: string })[],
  updated: readonly {
    readonly before: Counted & { readonly placed_on: string };
    readonly after: Counted & { readonly creator_id: string };
  }[],
): CountChange[] {
  const changes = new Map<string, CountChange>();
  const add = (
    creatorId: string,
    placedOn: string,
    { payment_status, dispatch_status }: Counted,
    delta: number,
  ) => {
    const key = `${creatorId} ${placedOn} ${payment_status} ${dispatch_status}`;
    const orders = (changes.get(key)?.orders ?? 0) + delta;
    changes.set(key, { creator_id: creatorId, placed_on: placedOn, payment_status, dispatch_status, orders });
  };
  for (const order of added) add(order.creator_id, order.placed_at.slice(0, 10), order, 1);
  for (const { before, after } of updated) {
    add(after.creator_id, before.placed_on, before, -1);
    add(after.creator_id, before.placed_on, after, 1);
  }
  return [...changes.values()].filter((change) => change.orders !== 0);
}
