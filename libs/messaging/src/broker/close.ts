import { resolveWithin } from '@fulfilment/runtime';
import type { Channel, ChannelModel } from 'amqplib';

const timeoutMs = 5_000;

/**
 * Closes a channel or a connection. Use it instead of their own `close`, whose promise never settles if the
 * connection ends before RabbitMQ confirms. Waits for 5 s at most; the heartbeat then ends the connection.
 * @throws Error when it was closed before
 */
export async function close(target: Channel | ChannelModel): Promise<void> {
  const ended = new Promise<void>((resolve) => target.once('close', () => resolve()));
  await resolveWithin(timeoutMs, Promise.race([target.close(), ended]), () => undefined);
}
