import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { wave } from '../audio/audio-samples.fixture.js';
import {
  type AudioServer,
  audioServer,
  endUploads,
  uploadClient,
  workerSettings,
} from '../track-uploads.fixture.js';

const slots = Number(workerSettings.TRACK_UPLOAD_CONCURRENCY);

describe('downloads from slow servers', () => {
  let api: CreatorApi;
  let slow: AudioServer;
  let good: AudioServer;
  let openSlowDownloads = 0;
  let worker: ReturnType<CreatorApi['startProcessing']>;
  beforeAll(async () => {
    [slow, good] = await Promise.all([audioServer(), audioServer()]);
    slow.respondWith((_request, response) => {
      openSlowDownloads += 1;
      response.writeHead(200, { 'content-type': 'audio/wav' });
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => {
        openSlowDownloads -= 1;
        clearInterval(drip);
      });
    });
    api = await creatorApi({ ...workerSettings, TRACK_UPLOAD_CONCURRENCY: '0' });
  });
  afterEach(async () => {
    await worker.stop();
    await api.database.run(endUploads);
  });
  afterAll(async () => {
    await api.stop();
    await Promise.all([slow.stop(), good.stop()]);
  });

  const startWorker = (slowForMs: number) => {
    worker = api.startProcessing({
      TRACK_UPLOAD_CONCURRENCY: slots,
      TRACK_UPLOAD_SLOW_FOR_MS: slowForMs,
    });
  };
  const slowUploads = async (organisation: string) => {
    const uploads = await uploadClient(api, organisation);
    for (let count = 0; count < 12; count += 1) await uploads.register(slow.url());
  };

  it('of one organisation occupy at most half of the slots, so that another does not wait', async () => {
    await slowUploads('org_reef');
    const uploads = await uploadClient(api, 'org_lagoon');
    startWorker(600_000);
    await eventually(() => openSlowDownloads === slots / 2);
    expect(await uploads.untilFinished((await uploads.register(good.url())).id)).toMatchObject({
      status: 'completed',
    });
    expect(openSlowDownloads).toBeLessThanOrEqual(slots / 2);
  });

  it('of several organisations occupy all slots until their speed is measured; then an organisation with fewer uploads is next', async () => {
    await Promise.all([slowUploads('org_atoll'), slowUploads('org_shoal')]);
    const uploads = await uploadClient(api, 'org_lagoon');
    let slowRequestsAtDownload = 0;
    good.respondWith((_request, response) => {
      slowRequestsAtDownload = slow.requests();
      response.end(wave());
    });
    startWorker(3_000);
    await eventually(() => openSlowDownloads === slots);
    const { id } = await uploads.register(good.url());
    const slowRequestsAtRegistration = slow.requests();
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    // At most two rounds of slots are started before it, and most of the 24 slow uploads after it.
    expect(slowRequestsAtDownload - slowRequestsAtRegistration).toBeLessThanOrEqual(2 * slots);
  });
});
