/**
 * A named statement keeps its plan until its tables are analysed. A plan from the time when a table was
 * nearly empty would keep a sequential scan as the table grows. JIT compilation never pays off in a service.
 */
const indexPlans = { enable_seqscan: 'off', jit: 'off' };
const genericPlans = { plan_cache_mode: 'force_generic_plan' };
/** An abandoned transaction must not keep its locks. */
const idleInTransactionTimeoutMs = 30_000;

/** Well below the time that the gateway waits for a response. */
const defaultStatementTimeoutMs = 8_000;

export interface SessionOptions {
  /**
   * Migrations and operator commands (`operator`) read whole tables, so they get neither a statement timeout
   * nor the settings for plans. Default: `service`.
   */
  readonly workload?: 'service' | 'operator';
  /** Limit of one statement of a service. */
  readonly statementTimeoutMs?: number | undefined;
  /**
   * Makes PostgreSQL use one generic plan per statement and connection, instead of planning each execution
   * for which it estimates a gain. The estimate is wrong for tables with many partitions (with a month of
   * daily partitions, planning takes twenty times as long as the statement) and for array parameters (a short
   * array looks like a gain, but planning costs twice as much as the lookup). Only for services.
   */
  readonly forceGenericPlan?: boolean | undefined;
}

/** Returns the limit of one statement; 0 means none. */
export function statementTimeoutOf({
  workload = 'service',
  statementTimeoutMs = defaultStatementTimeoutMs,
}: SessionOptions): number {
  return workload === 'service' ? statementTimeoutMs : 0;
}

/** Returns the settings of PostgreSQL that every connection needs, with their values as in `pg_settings`. */
export function sessionSettings(options: SessionOptions): Readonly<Record<string, string>> {
  const isService = options.workload !== 'operator';
  return {
    statement_timeout: String(statementTimeoutOf(options)),
    idle_in_transaction_session_timeout: String(idleInTransactionTimeoutMs),
    ...(isService && indexPlans),
    ...(isService && options.forceGenericPlan === true && genericPlans),
  };
}

/**
 * Returns the settings as the start-up parameter `options`, which costs no round trip. All of them are in
 * this one parameter, so that it is the only one that a connection pooler has to ignore.
 */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
