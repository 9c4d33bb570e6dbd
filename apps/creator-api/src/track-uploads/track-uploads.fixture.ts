import { messages, uuidv7 } from '@fulfilment/contracts';
import { eventually, listen } from '@fulfilment/testing';
import { createServer, type RequestListener } from 'node:http';
import { creatorApi, type CreatorApi, ownerOf } from '../creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { wave } from './audio/audio-samples.fixture.js';

/** A stranger's server with files of audio. */
export async function audioServer() {
  let answer: RequestListener = (_request, response) => response.end(wave());
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    response.on('error', () => undefined);
    answer(request, response);
  });
  const { port, close } = await listen(server);
  return {
    /** A URL of its own. */
    url: () => `http://127.0.0.1:${port}/${uuidv7()}.wav`,
    port,
    requests: () => requests,
    answerWith: (next: RequestListener) => {
      answer = next;
    },
    send: (file: Buffer) => {
      answer = (_request, response) => response.end(file);
    },
    stop: close,
  };
}
export type AudioServer = Awaited<ReturnType<typeof audioServer>>;

/** What tests of uploads do: a release, registrations, their ends. */
export async function uploadDesk(api: CreatorApi, organisation = `org_${uuidv7()}`) {
  const creator = aCreator(organisation);
  const owner = { ...ownerOf(organisation), creator_id: creator.id };
  await api.record({ creators: [creator] });
  const release = async () =>
    String((await api.post('/api/v1/releases', owner, { title: 'Tidal Maps', release_type_id: 1 })).body.id);
  const releaseId = await release();
  const read = async (id: string) => (await api.get(`/api/v1/track-uploads/${id}`, owner)).body;
  return {
    owner,
    releaseId,
    /** Answers the registration. */
    register: async (url: string, trackId = uuidv7()) => {
      const path = `/api/v1/releases/${releaseId}/track-upload`;
      const { status, body } = await api.post(path, owner, { track_uuid: trackId, upload_url: url });
      if (status !== 202) throw new Error(`Registering gave ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    read,
    /** The status once it is over. */
    over: async (id: string, withinMs = 20_000) => {
      let last: unknown;
      return eventually(
        async () => {
          const upload = await read(id);
          last = upload;
          return upload.status === 'completed' || upload.status === 'failed' ? upload : undefined;
        },
        withinMs,
        () => JSON.stringify(last),
      );
    },
    /** The messages that tell of this release's tracks, each as often as it was published. */
    told: () =>
      api.broker.published.flatMap((message) =>
        messages.trackProcessed.is(message) && message.data.release_id === releaseId ? [message.data] : [],
      ),
  };
}
export type UploadDesk = Awaited<ReturnType<typeof uploadDesk>>;

export const working = {
  TRACK_UPLOAD_CONCURRENCY: '4',
  TRACK_UPLOAD_RETRY_SCHEDULE_MS: '50,100',
  TRACK_UPLOAD_TIMEOUT_MS: '3000',
  TRACK_UPLOAD_MAX_BYTES: String(4 * 1024 * 1024),
};

export const startUploads = (environment: Readonly<Record<string, string>> = {}) =>
  creatorApi({ ...working, ...environment });
