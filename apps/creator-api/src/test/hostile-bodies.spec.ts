import { expectNoLongBlock } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { type CreatorApi, creatorApi, globalAdminClaims } from './creator-api.fixture.js';

/** Long enough for the 60 bodies of up to 256 KiB that each test sends. */
const timeoutMs = 120_000;

let api: CreatorApi;
let url: string;
beforeAll(async () => {
  api = await creatorApi();
  url = await api.app.getUrl();
});
afterAll(() => api.stop());

const sendTo = (path: string) => async (body: string) => {
  const response = await fetch(`${url}/creator${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await api.tokens.token(globalAdminClaims)}`,
      'content-type': 'application/json',
    },
    body,
  });
  expect(response.status).toBeLessThan(500);
  await response.arrayBuffer();
};

describe('a request body of up to 256 KiB', () => {
  it(
    'blocks the event loop for at most 50 ms when a release is created',
    () =>
      expectNoLongBlock(
        { title: 'Tidal Maps', release_type_id: 1, ean: '5012345678900', creator: randomUUID() },
        sendTo('/api/v1/releases'),
      ),
    timeoutMs,
  );

  it(
    'blocks the event loop for at most 50 ms when a track upload is registered',
    () =>
      expectNoLongBlock(
        { track_uuid: randomUUID(), upload_url: 'https://files.example.com/a.wav' },
        sendTo(`/api/v1/releases/${randomUUID()}/track-upload`),
      ),
    timeoutMs,
  );
});
