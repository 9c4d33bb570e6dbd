import { connect as connectAmqp } from 'amqplib';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import pg from 'pg';

const timeoutMs = 3_000;

/** Resolves when a statement has run. */
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

/** Whether Redis responds to PING, which it rejects while it loads its data. */
export function redisResponds(url: string): Promise<boolean> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const address = { host: hostname, port: Number(port || 6379) };
  const credentials = [username, password].filter((text) => text !== '').map(decodeURIComponent);
  const commands = [...(credentials.length > 0 ? [['AUTH', ...credentials]] : []), ['PING']];
  return new Promise((resolve) => {
    const socket = protocol === 'rediss:' ? connectTls(address) : connectTcp(address);
    const received: string[] = [];
    const end = (ok: boolean): void => {
      socket.destroy();
      resolve(ok);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once('error', () => end(false));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received.push(chunk);
      const text = received.join('');
      if (text.includes('+PONG')) end(true);
      else if (text.includes('-')) end(false);
    });
    socket.write(commands.map(resp).join(''));
  });
}

/** Completes a handshake, since RabbitMQ opens its port before it can serve. */
export async function rabbitmqResponds(url: string): Promise<boolean> {
  const connection = await connectAmqp(url, { timeout: timeoutMs });
  connection.on('error', () => undefined);
  await connection.close();
  return true;
}

/** Encodes a command for Redis (RESP). */
function resp(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}
