import { jest } from '@jest/globals';
import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { LOGGER } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { sample, wave } from '../audio/audio-samples.fixture.js';
import {
  type AudioServer,
  audioServer,
  type UploadClient,
  uploadClient,
  workerSettings,
} from '../track-uploads.fixture.js';
import { RecordOutcome } from './record-outcome.js';

const endLease = statement('test.end-lease', 'UPDATE track_uploads SET lease_until = now() WHERE id = $1');
const urlOf = statement('test.url', 'SELECT upload_url FROM track_uploads WHERE id = $1');

describe('a registered track upload', () => {
  let api: CreatorApi;
  let server: AudioServer;
  let uploads: UploadClient;
  beforeAll(async () => {
    server = await audioServer();
    api = await creatorApi(workerSettings);
  });
  afterAll(async () => {
    await api.stop();
    await server.stop();
  });
  beforeEach(async () => {
    uploads = await uploadClient(api);
  });

  it('is fetched and analysed, and track.processed is published once', async () => {
    server.send(sample('tone.flac'));
    const trackId = uuidv7();
    const { id, workflow_id, status_url } = await uploads.register(server.url(), trackId);
    const upload = await uploads.untilFinished(id);
    expect(upload).toEqual({
      id,
      status: 'completed',
      workflow_id,
      status_url,
      release_id: uploads.releaseId,
      track_uuid: trackId,
      audio: {
        container: 'FLAC',
        codec: 'FLAC',
        sample_rate: 8000,
        bit_depth: 16,
        channels: 1,
        duration_seconds: 12,
        loudness: { track_gain_db: -6.5, track_peak: 0.5 },
      },
      failure: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    await eventually(() => uploads.publishedTracks().length > 0);
    expect(uploads.publishedTracks()).toEqual([
      {
        release_id: uploads.releaseId,
        track_id: trackId,
        title: 'Slow Signal',
        position: 3,
        duration_seconds: 12,
        registered_at: upload.created_at,
      },
    ]);
  });

  it('is completed for a track whose id is a UUID of no known version', async () => {
    server.send(wave());
    const before = server.requests();
    const trackId = '11111111-1111-1111-1111-111111111111';
    const upload = await uploads.untilFinished((await uploads.register(server.url(), trackId)).id);
    expect(upload).toMatchObject({ status: 'completed', track_uuid: trackId });
    expect(server.requests()).toBe(before + 1);
    await eventually(() => uploads.publishedTracks().length > 0);
    expect(uploads.publishedTracks()).toEqual([expect.objectContaining({ track_id: trackId })]);
  });

  it('no longer stores its URL, which may be signed, when it has ended', async () => {
    server.send(wave());
    const { id } = await uploads.register(server.url());
    await uploads.untilFinished(id);
    expect(await api.database.row(urlOf, [id])).toEqual({ upload_url: null });
  });

  it('is published with a title and position of null if the file has no tags', async () => {
    server.send(wave());
    await uploads.untilFinished((await uploads.register(server.url())).id);
    await eventually(() => uploads.publishedTracks().length > 0);
    expect(uploads.publishedTracks()).toEqual([
      expect.objectContaining({ title: null, position: null, duration_seconds: 12 }),
    ]);
  });

  it.each([
    ['HTML', Buffer.from('<!doctype html><title>Sign in</title>'.repeat(100)), 'not_audio'],
    ['nothing', Buffer.alloc(0), 'empty'],
  ])('fails permanently when the server sends %s', async (_what, file, code) => {
    server.send(file);
    const before = server.requests();
    const upload = await uploads.untilFinished((await uploads.register(server.url())).id);
    expect(upload).toMatchObject({
      status: 'failed',
      audio: null,
      failure: { code, message: expect.stringMatching(/^[A-Z].*\.$/) },
    });
    expect(server.requests()).toBe(before + 1);
    expect(uploads.publishedTracks()).toEqual([]);
  });

  it('is retried after a transient problem, and then completes normally', async () => {
    let requests = 0;
    server.respondWith((_request, response) => {
      requests += 1;
      if (requests < 3) response.writeHead(503).end();
      else response.end(wave());
    });
    expect(await uploads.untilFinished((await uploads.register(server.url())).id)).toMatchObject({
      status: 'completed',
    });
    expect(requests).toBe(3);
  });

  it('fails after the last retry, with the reason', async () => {
    const before = server.requests();
    server.respondWith((_request, response) => response.writeHead(500).end('no'));
    const upload = await uploads.untilFinished((await uploads.register(server.url())).id);
    expect(upload.failure).toEqual({ code: 'http_error', message: 'The server responded with 500.' });
    expect(server.requests()).toBe(before + 3); // a first run and two retries (`workerSettings`)
  });

  it('is retried after its lease when its run ends with an unexpected error, which is logged', async () => {
    server.send(wave());
    const error = new Error('The database is down.');
    const recording = jest.spyOn(RecordOutcome.prototype, 'complete').mockRejectedValueOnce(error);
    const logging = jest.spyOn(api.app.get(LOGGER), 'error');
    const { id } = await uploads.register(server.url());
    await eventually(() => logging.mock.calls.length > 0);
    expect(logging.mock.calls).toEqual([
      [{ upload_id: id, error }, expect.stringContaining('unexpected error')],
    ]);
    recording.mockRestore();
    logging.mockRestore();
    await api.database.run(endLease, [id]);
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
  });

  it('can be registered again when it has failed', async () => {
    const [url, trackId] = [server.url(), uuidv7()];
    server.respondWith((_request, response) => response.writeHead(404).end());
    const first = await uploads.register(url, trackId);
    expect((await uploads.untilFinished(first.id)).failure.code).toBe('http_error');
    server.send(wave());
    const second = await uploads.register(url, trackId);
    expect(second.id).not.toBe(first.id);
    expect((await uploads.untilFinished(second.id)).status).toBe('completed');
  });
});
