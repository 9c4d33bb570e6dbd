import { messages, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, listen } from '@fulfilment/testing';
import { createServer, type RequestListener } from 'node:http';
import { type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { wave } from './audio/audio-samples.fixture.js';

/**
 * Inserts $3 due uploads of the creator $1, each of another track of the release $2. If $2 is null, each has
 * another release.
 */
export const insertOpenUploads = statement(
  'test.insert-open-uploads',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, upload_url, status, due_at, created_at, updated_at)
   SELECT gen_random_uuid(), gen_random_uuid(), $1, coalesce($2, gen_random_uuid()), gen_random_uuid(), 'https://a.example/', 'pending',
     now(), now(), now() FROM generate_series(1, $3::int) RETURNING id`,
);

/** Ends all open uploads, so that no worker of a later test claims them. */
export const endUploads = statement(
  'test.end-uploads',
  `UPDATE track_uploads SET status = 'failed', failure = '{"code":"empty","message":"Empty."}',
     upload_url = NULL, due_at = NULL, lease_token = NULL, lease_until = NULL
   WHERE status IN ('pending', 'processing')`,
);

/** An untrusted HTTP server that serves audio files. */
export async function audioServer() {
  let respond: RequestListener = (_request, response) => response.end(wave());
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    response.on('error', () => undefined);
    respond(request, response);
  });
  const { port, close } = await listen(server);
  return {
    /** A URL that was not used before. */
    url: () => `http://127.0.0.1:${port}/${uuidv7()}.wav`,
    port,
    requests: () => requests,
    respondWith: (next: RequestListener) => {
      respond = next;
    },
    send: (file: Buffer) => {
      respond = (_request, response) => response.end(file);
    },
    stop: close,
  };
}
export type AudioServer = Awaited<ReturnType<typeof audioServer>>;

/** Creates a release, and registers and follows uploads of its tracks. */
export async function uploadClient(api: CreatorApi, organisation = `org_${uuidv7()}`) {
  const creator = aCreator(organisation);
  const owner = { ...ownerClaims(organisation), creator_id: creator.id };
  await api.record({ creators: [creator] });
  const release = await api.post('/api/v1/releases', owner, { title: 'Tidal Maps', release_type_id: 1 });
  const releaseId = String(release.body.id);
  const read = async (id: string) => (await api.get(`/api/v1/track-uploads/${id}`, owner)).body;
  return {
    owner,
    releaseId,
    /** Returns the registration. */
    register: async (url: string, trackId = uuidv7()) => {
      const path = `/api/v1/releases/${releaseId}/track-upload`;
      const { status, body } = await api.post(path, owner, { track_uuid: trackId, upload_url: url });
      if (status !== 202) throw new Error(`Registering gave ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    read,
    /** Returns the upload when it is completed or failed. */
    untilFinished: async (id: string) => {
      let last: unknown;
      return eventually(
        async () => {
          const upload = await read(id);
          last = upload;
          return upload.status === 'completed' || upload.status === 'failed' ? upload : undefined;
        },
        { describe: () => JSON.stringify(last) },
      );
    },
    /** The data of the `track.processed` messages of this release, once for a message that arrived twice. */
    publishedTracks: () => {
      const tracks = api.broker.published.flatMap((message) =>
        messages.trackProcessed.is(message) && message.data.release_id === releaseId
          ? [[message.id, message.data] as const]
          : [],
      );
      return [...new Map(tracks).values()];
    },
  };
}
export type UploadClient = Awaited<ReturnType<typeof uploadClient>>;

export const workerSettings = {
  TRACK_UPLOAD_CONCURRENCY: '4',
  TRACK_UPLOAD_RETRY_SCHEDULE_MS: '50,100',
  TRACK_UPLOAD_TIMEOUT_MS: '600000',
  TRACK_UPLOAD_SLOW_FOR_MS: '600000',
  TRACK_UPLOAD_MAX_BYTES: String(4 * 1024 * 1024),
};
