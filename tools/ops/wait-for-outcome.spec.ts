import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { waitForOutcome } from './wait-for-outcome.ts';

describe('a command that waits for its message', () => {
  const server = createServer();
  afterEach(() => {
    server.removeAllListeners('request');
    server.close();
  });

  async function waitFor(respond: (response: ServerResponse) => void): Promise<void> {
    server.on('request', (_, response) => respond(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const access = { internal_urls: { 'store-api': `http://127.0.0.1:${port}` } };
    await waitForOutcome(access, 'store-api', 'message-1');
  }

  it('fails with the reason if the service has rejected the message', async () => {
    // words: stored value
    const outcome = { outcome: 'refused', reason: 'The creator is unknown.' };
    await expect(waitFor((response) => response.end(JSON.stringify(outcome)))).rejects.toThrow(
      'store-api rejected the message: The creator is unknown.',
    );
  });

  it('fails after 30 s if the service has no outcome, and says that the message is published', async () => {
    let elapsedMs = 0;
    let requests = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const waiting = waitFor((response) => {
      requests += 1;
      elapsedMs += 10_000;
      response.writeHead(404).end();
    });
    await expect(waiting).rejects.toThrow(
      'The message is published, but store-api has not applied it within 30 s.',
    );
    expect(requests).toBe(3);
    clock.mockRestore();
  });
});
