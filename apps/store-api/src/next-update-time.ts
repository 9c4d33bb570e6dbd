/**
 * SQL for a row's next `updated_at`. Receivers keep the newest `updated_at` of an id, so it grows by at least
 * a millisecond with every change. It does not use `now()`, the start of the transaction: another transaction
 * may have changed the row since then.
 */
export const nextUpdateTimeSql =
  "greatest(date_trunc('milliseconds', clock_timestamp()), updated_at + interval '1 millisecond')";
