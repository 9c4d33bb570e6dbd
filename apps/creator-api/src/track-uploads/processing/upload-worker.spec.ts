import { createLogger } from '@fulfilment/runtime';
import { eventually, storeUrl, uniqueName } from '@fulfilment/testing';
import { UploadQueue } from './upload-queue.js';
import { UploadWorker } from './upload-worker.js';

describe('the worker of track uploads', () => {
  it('logs a run that ends with an unexpected error, for example an outage of PostgreSQL', async () => {
    const lines: string[] = [];
    const logger = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
    const config = {
      REDIS_URL: storeUrl('TEST_REDIS_URL'),
      TRACK_UPLOAD_QUEUE_PREFIX: uniqueName('creator'),
      TRACK_UPLOAD_CONCURRENCY: 1,
    };
    const failing = { run: () => Promise.reject(new Error('The database is down.')), stop: () => undefined };
    const worker = new UploadWorker(failing, config, logger);
    const queue = new UploadQueue(config, logger);
    worker.start();
    try {
      // Adding fails until the queue is connected.
      await eventually(() =>
        queue.add([{ id: 'upload-1', jobId: 'job-1', rank: 1 }]).then(
          () => true,
          () => undefined,
        ),
      );
      const line = await eventually(() => lines.find((text) => text.includes('unexpected error')));
      expect(JSON.parse(line)).toMatchObject({
        upload_id: 'upload-1',
        error: { message: 'The database is down.' },
      });
    } finally {
      await worker.stop();
      await queue.onApplicationShutdown();
    }
  });
});
