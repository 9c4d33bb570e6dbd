/**
 * SQL for a row's next `updated_at`. Receivers keep the newest `updated_at` of an id, so it grows by at least
 * a millisecond with every change. `now()` would not do: it is the start of the transaction, which may be
 * before the commit of another one.
 */
export const nextUpdateTimeSql =
  "greatest(date_trunc('milliseconds', clock_timestamp()), updated_at + interval '1 millisecond')";
