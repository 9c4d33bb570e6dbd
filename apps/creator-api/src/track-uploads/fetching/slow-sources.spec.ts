import { eventually } from '@fulfilment/testing';
import type { CreatorApi } from '../../test/creator-api.fixture.js';
import {
  type AudioServer,
  audioServer,
  startUploads,
  uploadClient,
  workerSettings,
} from '../track-uploads.fixture.js';

/** After this time a slow download is aborted, and its slot is free. */
const slowForMs = 3_000;
const slots = Number(workerSettings.TRACK_UPLOAD_CONCURRENCY);

describe('downloads from slow servers', () => {
  let api: CreatorApi;
  let slow: AudioServer;
  let good: AudioServer;
  let running = 0;
  beforeAll(async () => {
    [slow, good] = await Promise.all([audioServer(), audioServer()]);
    slow.respondWith((_request, response) => {
      running += 1;
      response.writeHead(200, { 'content-type': 'audio/wav' });
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => {
        running -= 1;
        clearInterval(drip);
      });
    });
    api = await startUploads({
      TRACK_UPLOAD_TIMEOUT_MS: '600000',
      TRACK_UPLOAD_SLOW_FOR_MS: String(slowForMs),
    });
  });
  afterAll(async () => {
    await api.stop();
    await Promise.all([slow.stop(), good.stop()]);
  });

  const slowUploads = async (organisation: string) => {
    const uploads = await uploadClient(api, organisation);
    for (let count = 0; count < 12; count += 1) await uploads.register(slow.url());
  };

  it('of one organisation occupy at most half of the slots, so that another does not wait', async () => {
    await slowUploads('org_reef');
    await eventually(() => running === slots / 2);
    const uploads = await uploadClient(api, 'org_lagoon');
    expect(
      await uploads.untilFinished((await uploads.register(good.url())).id, slowForMs - 500),
    ).toMatchObject({
      status: 'completed',
    });
    expect(running).toBeLessThanOrEqual(slots / 2);
  });

  it('of several organisations occupy all slots only until their speed is measured, and then wait behind organisations with fewer uploads', async () => {
    await Promise.all([slowUploads('org_reef'), slowUploads('org_shoal')]);
    await eventually(() => running === slots);
    const uploads = await uploadClient(api, 'org_lagoon');
    expect(await uploads.untilFinished((await uploads.register(good.url())).id, 4 * slowForMs)).toMatchObject(
      {
        status: 'completed',
      },
    );
  });
});
