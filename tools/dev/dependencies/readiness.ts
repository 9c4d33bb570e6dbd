import { connect as connectAmqp } from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';

const timeoutMs = 15_000;

/** Each resolves with true if the dependency responds at a URL; otherwise it rejects. */
export const assertResponds = {
  postgres: postgresResponds,
  redis: redisResponds,
  rabbitmq: rabbitmqResponds,
};

/** Resolves with true when a statement has run; otherwise rejects. */
export async function postgresResponds(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Resolves with true after a PING, which Redis rejects while it loads its data; otherwise rejects. */
export async function redisResponds(url: string): Promise<boolean> {
  const options = { lazyConnect: true, connectTimeout: timeoutMs, disconnectTimeout: 0 };
  const limits = { commandTimeout: timeoutMs, retryStrategy: () => null };
  const client = new Redis(url, { ...options, ...limits, enableReadyCheck: false });
  let cause: unknown;
  client.on('error', (error) => (cause = error));
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch (error) {
    throw cause ?? error; // ioredis itself rejects only with "Connection is closed."
  } finally {
    client.disconnect();
  }
}

/** Resolves with true after a handshake, which RabbitMQ allows later than a connection; otherwise rejects. */
export async function rabbitmqResponds(url: string): Promise<boolean> {
  const connection = await connectAmqp(url, { timeout: timeoutMs });
  connection.on('error', () => undefined);
  await connection.close();
  return true;
}
