/**
 * SQL for a row's next `updated_at`. Receivers keep the newest `updated_at` of an id, so it grows with every change, in the milliseconds
 * they see, and is taken when the row's lock is held: `now()` is when the transaction began, which may be before another's commit.
 */
export const nextUpdateTime =
  "greatest(date_trunc('milliseconds', clock_timestamp()), updated_at + interval '1 millisecond')";
