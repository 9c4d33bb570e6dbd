import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { receiveBody } from './request-bodies.js';

const server = createServer();
let port = 0;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  ({ port } = address);
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends a request whose `Content-Length` is 10, with only this part of its body. */
async function sendPart(part: string) {
  const socket = connect(port, '127.0.0.1');
  const requests = once(server, 'request');
  socket.write(`POST / HTTP/1.1\r\nHost: server.example\r\nContent-Length: 10\r\n\r\n${part}`);
  const [request]: IncomingMessage[] = await requests;
  if (request === undefined) throw new Error('The request did not arrive.');
  return { request, socket };
}

async function receiveAndDisconnect(part: string): Promise<Buffer | Error | undefined> {
  const { request, socket } = await sendPart(part);
  const received = receiveBody(request);
  socket.destroy();
  return received;
}

describe('receiveBody', () => {
  it('rejects when the client disconnects before the end of the body', async () => {
    await expect(receiveAndDisconnect('token')).rejects.toThrow('The client disconnected.');
  });

  it('rejects when the client has disconnected before the call', async () => {
    const { request, socket } = await sendPart('token');
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    await expect(receiveBody(request)).rejects.toThrow('The client disconnected.');
  });

  it('returns a body that arrived before the client disconnected', async () => {
    expect(String(await receiveAndDisconnect('token=1234'))).toBe('token=1234');
  });
});
