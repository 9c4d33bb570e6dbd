import { createDataSource, Database } from '@fulfilment/database';
import { createLogger, metrics } from '@fulfilment/runtime';
import { forEachMessage } from './for-each-message.js';
import { Messaging } from '../messaging.js';

describe('the count of handled messages', () => {
  it('starts at 0 with the consumer of a queue, so that alerts see its first message', async () => {
    const url = 'postgres://localhost/none';
    const dataSource = createDataSource({ url, poolSize: 1, applicationName: 'test', migrations: [] });
    const messaging = new Messaging(
      { url: 'amqp://localhost', service: 'test', namespace: 'test' },
      new Database(dataSource),
      createLogger('test', 'fatal'),
    );
    const queue = 'creator-api.facts';
    messaging.consume({
      queue,
      batchSize: 1,
      mayShareTransaction: () => true,
      handle: forEachMessage(() => Promise.resolve()),
    });
    const values = (await metrics.getSingleMetric('messages_handled_total')?.get())?.values ?? [];
    expect(values.filter(({ labels }) => labels['queue'] === queue)).toMatchObject([
      { labels: { outcome: 'applied' }, value: 0 },
      { labels: { outcome: 'refused' }, value: 0 },
    ]);
  });
});
