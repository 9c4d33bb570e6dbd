import { listen, storeUrl } from '@fulfilment/testing';
import { createServer } from 'node:net';
import { close } from './close.js';
import { connect } from './connect.js';

const url = storeUrl('TEST_RABBITMQ_URL');
const unreachable = 'amqp://127.0.0.1:1';

describe('a connection to a cluster of RabbitMQ', () => {
  it('is opened to the next node when nodes cannot be reached', async () => {
    // Each round begins with a random node; eight rounds meet an unreachable one first, almost certainly.
    for (let round = 0; round < 8; round += 1)
      await close(await connect([unreachable, unreachable, url].join(',')));
  });

  it('is opened to the next node when a node closes the connection before it is set up', async () => {
    const closing = createServer((socket) => socket.destroy());
    const { port, close: stop } = await listen(closing);
    // Each round begins with a random node: in 94 % of runs, one of the four meets the closing node first.
    for (let round = 0; round < 4; round += 1) await close(await connect(`amqp://127.0.0.1:${port},${url}`));
    await stop();
  });

  it('reports the reason of the only node, or those of all nodes', async () => {
    await expect(connect(unreachable)).rejects.toThrow('ECONNREFUSED');
    const error: unknown = await connect(`${unreachable},${unreachable}`).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: [{ code: 'ECONNREFUSED' }, { code: 'ECONNREFUSED' }] });
  });
});
