import { eventually } from '@fulfilment/testing';
import type { CreatorApi } from '../creator-api.fixture.js';
import { type AudioServer, audioServer, startUploads, uploadDesk } from './track-uploads.fixture.js';

describe('organisations whose servers drip', () => {
  let api: CreatorApi;
  let slow: AudioServer;
  let good: AudioServer;
  let atWork = 0;
  beforeAll(async () => {
    [slow, good] = await Promise.all([audioServer(), audioServer()]);
    slow.answerWith((_request, response) => {
      atWork += 1;
      response.writeHead(200, { 'content-type': 'audio/wav' });
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => {
        atWork -= 1;
        clearInterval(drip);
      });
    });
    api = await startUploads({
      TRACK_UPLOAD_TIMEOUT_MS: '600000',
      TRACK_UPLOAD_SLOW_FOR_MS: '3000',
    });
  });
  afterAll(async () => {
    await api.stop();
    await Promise.all([slow.stop(), good.stop()]);
  });

  const slowUploads = async (organisation: string) => {
    const desk = await uploadDesk(api, organisation);
    for (let count = 0; count < 12; count += 1) await desk.register(slow.url());
  };

  it('hold half of the places when it is one: the others wait for nothing', async () => {
    await slowUploads('org_reef');
    await eventually(() => atWork === 2 || undefined);
    const desk = await uploadDesk(api, 'org_lagoon');
    expect(await desk.over((await desk.register(good.url())).id, 2_500)).toMatchObject({
      status: 'completed',
    });
    expect(atWork).toBeLessThanOrEqual(2);
  });

  it('hold them all for no longer than the speed is measured, and are then behind who has fewer', async () => {
    await Promise.all([slowUploads('org_reef'), slowUploads('org_shoal')]);
    await eventually(() => atWork === 4 || undefined);
    const desk = await uploadDesk(api, 'org_lagoon');
    expect(await desk.over((await desk.register(good.url())).id, 12_000)).toMatchObject({
      status: 'completed',
    });
  });
});
