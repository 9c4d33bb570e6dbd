import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { openIntegration } from './open-integration.ts';

describe('openIntegration', () => {
  it('stops the receiver of webhooks when the integration cannot be opened', async () => {
    const receiver = await ReceiverProcess.start();
    const stack = {
      base_url: 'https://localhost:1',
      auth_url: 'https://localhost:1/api/auth',
      ca_file: '/missing/ca.pem',
      users: [],
      clients: {
        dashboard: { client_id: '', redirect_uri: '' },
        resource_server: { client_id: '', client_secret: '' },
      },
      services: {},
      dependencies: { postgres: '', redis: '', rabbitmq: '' },
    };
    try {
      const opened = openIntegration(stack, () => Promise.resolve(receiver));
      await expect(opened).rejects.toThrow('/missing/ca.pem');
      await expect(fetch(receiver.origin)).rejects.toThrow('fetch failed');
    } finally {
      await receiver.stop();
    }
  });
});
