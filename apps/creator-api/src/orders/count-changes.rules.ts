interface CountedState {
  readonly payment_status: string;
  readonly dispatch_status: string;
  /** The app that placed the order; null if it is not known. */
  readonly client_id: string | null;
}

interface CountChange extends CountedState {
  readonly creator_id: string;
  readonly placed_on: string;
  readonly orders: number;
}

/**
 * Returns the change of each order count: +1 for an added order; -1 and +1 for an order whose statuses
 * changed, or whose app has become known.
 */
export function countChanges(
  added: readonly (CountedState & { readonly creator_id: string; readonly placed_at: string })[],
  updated: readonly {
    readonly before: CountedState & { readonly placed_on: string };
    readonly after: CountedState & { readonly creator_id: string };
  }[],
): CountChange[] {
  const changes = new Map<string, CountChange>();
  const add = (
    creator_id: string,
    placed_on: string,
    { payment_status, dispatch_status, client_id }: CountedState,
    delta: number,
  ) => {
    const counted = { creator_id, placed_on, payment_status, dispatch_status, client_id };
    const key = JSON.stringify(counted);
    changes.set(key, { ...counted, orders: (changes.get(key)?.orders ?? 0) + delta });
  };
  for (const order of added) add(order.creator_id, order.placed_at.slice(0, 10), order, 1);
  for (const { before, after } of updated) {
    add(after.creator_id, before.placed_on, before, -1);
    add(after.creator_id, before.placed_on, after, 1);
  }
  return [...changes.values()].filter((change) => change.orders !== 0);
}
