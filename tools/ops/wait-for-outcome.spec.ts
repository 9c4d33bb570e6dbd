import { once } from 'node:events';
import { createServer } from 'node:http';
import { waitForOutcome } from './wait-for-outcome.ts';

describe('a command that waits for its message', () => {
  const server = createServer();
  afterEach(() => void server.close());

  async function waitFor(outcome: object): Promise<void> {
    server.on('request', (_, response) => response.end(JSON.stringify(outcome))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const access = { internal_urls: { 'store-api': `http://127.0.0.1:${port}` } };
    await waitForOutcome(access, 'store-api', 'message-1');
  }

  it('fails with the reason if the service has rejected the message', async () => {
    // words: stored value
    await expect(waitFor({ outcome: 'refused', reason: 'The creator is unknown.' })).rejects.toThrow(
      'store-api rejected the message: The creator is unknown.',
    );
  });
});
