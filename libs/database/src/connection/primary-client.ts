import { Client, type ClientConfig } from 'pg';
import { connectionOf } from './pg-internals.js';

/** A client that detects a standby by a parameter that PostgreSQL reports when the connection starts. */
class ObservingClient extends Client {
  isStandby = false;

  constructor(config?: string | ClientConfig) {
    super(config);
    connectionOf(this).on('parameterStatus', (status: unknown) => {
      if (isStandby(status)) this.isStandby = true;
    });
  }
}

/**
 * Options of a pool that connects only to a primary. During a failover, a stable name may still lead to a
 * standby; reads would see old data there, and the pool would keep the connection. Costs no round trip.
 */
export const primaryOnly = {
  Client: ObservingClient,
  verify: (client: unknown, done: (error?: Error) => void): void => {
    const isUnsuitable = client instanceof ObservingClient && client.isStandby;
    done(isUnsuitable ? new Error('PostgreSQL is a standby, which accepts no writes.') : undefined);
  },
};

function isStandby(status: unknown): boolean {
  if (typeof status !== 'object' || status === null) return false;
  const { parameterName, parameterValue }: { parameterName?: unknown; parameterValue?: unknown } = status;
  return parameterName === 'in_hot_standby' && parameterValue === 'on';
}
