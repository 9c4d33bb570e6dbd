import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { startCreatorProcess } from '../../test/creator-process.fixture.js';
import { wave } from '../audio/audio-samples.fixture.js';
import {
  type AudioServer,
  audioServer,
  endUploads,
  type UploadClient,
  uploadClient,
  workerSettings,
} from '../track-uploads.fixture.js';
import { uploadMetrics } from './upload-metrics.js';

const loseLease = statement(
  'test.lose-lease',
  `UPDATE track_uploads SET lease_token = gen_random_uuid(), lease_until = now() + interval '1 hour',
     due_at = NULL WHERE id = $1`,
);
const loseLeases = statement(
  'test.lose-leases',
  'UPDATE track_uploads SET lease_token = gen_random_uuid() WHERE lease_token IS NOT NULL',
);
const endLease = statement('test.end-lease', 'UPDATE track_uploads SET lease_until = now() WHERE id = $1');
const file = wave();
const firstPart = file.subarray(0, 100_000);
const rest = file.subarray(firstPart.length);
const readRow = statement(
  'test.row',
  `SELECT status, runs, failed_runs, lease_token IS NOT NULL AS leased, due_at <= now() AS due FROM track_uploads WHERE id = $1`,
);

describe('a track upload', () => {
  const directory = join(tmpdir(), `crash-recovery-${randomUUID()}`);
  const settings = { TRACK_UPLOAD_LEASE_MS: 15_000, TRACK_UPLOAD_CONCURRENCY: 4 };
  let api: CreatorApi;
  let server: AudioServer;
  let uploads: UploadClient;
  let started: { stop(): Promise<unknown> }[];
  beforeAll(async () => {
    await mkdir(directory);
    server = await audioServer();
    const environment = {
      TRACK_UPLOAD_LEASE_MS: String(settings.TRACK_UPLOAD_LEASE_MS),
      TRACK_UPLOAD_DIRECTORY: directory,
    };
    api = await creatorApi({ ...workerSettings, ...environment, TRACK_UPLOAD_CONCURRENCY: '0' });
  });
  afterAll(async () => {
    await api.stop();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    started = [];
    uploads = await uploadClient(api);
  });
  afterEach(async () => {
    for (const worker of started) await worker.stop();
    await api.database.run(endUploads);
  });

  const startWorker = (changes: Parameters<CreatorApi['startProcessing']>[0] = {}) => {
    const worker = api.startProcessing({ ...settings, ...changes });
    started.push(worker);
    return worker;
  };
  const startProcess = async () => {
    const child = await startCreatorProcess(api, {
      TRACK_UPLOAD_DIRECTORY: directory,
      TRACK_UPLOAD_SLOW_FOR_MS: workerSettings.TRACK_UPLOAD_SLOW_FOR_MS,
    });
    started.push({ stop: child.kill });
    return child;
  };
  const row = (id: string) => api.database.row<Record<string, unknown>>(readRow, [id]);
  /** Responds to every request with the first part of a file, and waits. Returns the open responses. */
  const blockResponses = () => {
    const openResponses = new Set<ServerResponse>();
    server.respondWith((_request, response) => {
      openResponses.add(response);
      response.on('close', () => openResponses.delete(response));
      response.write(firstPart);
    });
    return openResponses;
  };
  const untilOpen = (responses: ReadonlySet<ServerResponse>, count: number) =>
    eventually(() => responses.size === count, { describe: () => `${responses.size} of ${count}` });
  /** Expects that `count` tracks are published, each once. */
  const expectPublishedOnce = async (count: number) => {
    await eventually(() => uploads.publishedTracks().length >= count);
    expect(uploads.publishedTracks()).toHaveLength(count);
  };

  it('is completed by another process when its process is killed, and leaves no file on the disk', async () => {
    const openResponses = blockResponses();
    const dying = await startProcess();
    const { id } = await uploads.register(server.url());
    await untilOpen(openResponses, 1);
    expect((await uploads.read(id)).status).toBe('processing');
    expect(await dying.kill()).toBe('SIGKILL');
    await api.database.run(endLease, [id]);
    expect(await readdir(directory)).toEqual([]);
    await untilOpen(openResponses, 0);
    server.send(file);
    await startProcess();
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    await expectPublishedOnce(1);
    expect(await row(id)).toMatchObject({ runs: 2, failed_runs: 0 });
  });

  it('is abandoned by a paused process after another process took it over', async () => {
    const openResponses = blockResponses();
    const frozen = await startProcess();
    const { id } = await uploads.register(server.url());
    await untilOpen(openResponses, 1);
    frozen.signal('SIGSTOP');
    await api.database.run(endLease, [id]);
    startWorker();
    await untilOpen(openResponses, 2);
    frozen.signal('SIGCONT');
    await untilOpen(openResponses, 1); // it has noticed the lost lease
    for (const response of openResponses) response.end(rest);
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    await expectPublishedOnce(1);
  });

  it('is never processed by two workers at once, however often they claim', async () => {
    const openResponses = blockResponses();
    const before = server.requests();
    const workers = [1, 2].map(() =>
      startWorker({ TRACK_UPLOAD_CONCURRENCY: 32, TRACK_UPLOAD_ORGANISATION_CONCURRENCY: 16 }),
    );
    const claimOften = setInterval(() => workers.forEach((worker) => worker.wake()), 1);
    try {
      const ids = await Promise.all(
        Array.from({ length: 8 }, async () => (await uploads.register(server.url())).id),
      );
      await untilOpen(openResponses, 8);
      for (const response of openResponses) response.end(rest);
      for (const id of ids) expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    } finally {
      clearInterval(claimOften);
    }
    expect(server.requests()).toBe(before + 8);
    await expectPublishedOnce(8);
  });

  it('is restarted by another worker when its worker stops, and the run does not count', async () => {
    const openResponses = blockResponses();
    const worker = startWorker();
    const { id } = await uploads.register(server.url());
    await untilOpen(openResponses, 1);
    await worker.stop();
    await untilOpen(openResponses, 0);
    expect(await row(id)).toEqual({
      status: 'processing',
      runs: 0,
      failed_runs: 0,
      leased: false,
      due: true,
    });
    server.send(file);
    startWorker();
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    expect(await readdir(directory)).toEqual([]);
  });

  it('is not completed by a worker that lost its lease', async () => {
    const openResponses = blockResponses();
    const worker = startWorker({ TRACK_UPLOAD_LEASE_MS: 1_000 }); // so that a renewal soon detects the loss
    const { id } = await uploads.register(server.url());
    await untilOpen(openResponses, 1);
    await api.database.run(loseLease, [id]);
    await untilOpen(openResponses, 0); // the worker stops
    expect(await row(id)).toMatchObject({ status: 'processing', leased: true });
    await worker.stop();
    server.send(file);
    startWorker();
    await api.database.run(endLease, [id]);
    expect(await uploads.untilFinished(id)).toMatchObject({ status: 'completed' });
    await expectPublishedOnce(1);
  });

  it.each([
    ['completed', 200],
    ['failed', 404],
    ['postponed', 503],
  ])(
    'counts as a lost lease and not as %s when the loss is detected while the outcome is recorded',
    async (_as, status) => {
      const counted = async () => {
        const [runs, lost] = [await uploadMetrics.runs.get(), await uploadMetrics.leasesLost.get()];
        return [runs.values.reduce((sum, { value }) => sum + value, 0), lost.values[0]?.value ?? 0];
      };
      const [runsBefore = 0, lostBefore = 0] = await counted();
      startWorker({ TRACK_UPLOAD_LEASE_MS: 60_000 }); // so that no renewal detects the loss
      server.respondWith((_request, response) => {
        void api.database.run(loseLeases).then(() => response.writeHead(status).end(file));
      });
      const { id } = await uploads.register(server.url());
      await eventually(async () => (await counted())[1] === lostBefore + 1);
      expect(await counted()).toEqual([runsBefore, lostBefore + 1]);
      expect(await row(id)).toMatchObject({ status: 'processing', leased: true });
    },
  );

  it('is not delayed by slow uploads of another organisation', async () => {
    const openResponses = blockResponses();
    startWorker({ TRACK_UPLOAD_ORGANISATION_CONCURRENCY: 2 });
    for (let count = 0; count < 6; count += 1) await uploads.register(server.url());
    await untilOpen(openResponses, 2);
    const other = await uploadClient(api, 'org_other');
    const { id } = await other.register(server.url());
    await untilOpen(openResponses, 3);
    const last = [...openResponses].at(-1);
    last?.end(rest);
    expect(await other.untilFinished(id)).toMatchObject({ status: 'completed' });
    expect(openResponses.size).toBe(2);
  });

  it('fails after too many lost processes', async () => {
    server.send(file);
    const { id } = await uploads.register(server.url());
    const setRuns = statement('test.set-runs', 'UPDATE track_uploads SET runs = $2 WHERE id = $1');
    await api.database.run(setRuns, [id, 11]); // lost runs: one more than the maximum
    startWorker();
    expect(await uploads.untilFinished(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'internal_error' },
    });
  });

  it('is published once per upload when the same track is uploaded twice', async () => {
    server.send(file);
    startWorker();
    const trackId = uuidv7();
    for (const count of [1, 2]) {
      await uploads.untilFinished((await uploads.register(server.url(), trackId)).id);
      await expectPublishedOnce(count);
    }
  });
});
