import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, storeUrl } from '@fulfilment/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { creatorApi, type CreatorApi } from '../creator-api.fixture.js';
import { startCreatorProcess } from '../creator-process.fixture.js';
import { wave } from './audio/audio-samples.fixture.js';
import {
  type AudioServer,
  audioServer,
  type UploadDesk,
  uploadDesk,
  working,
} from './track-uploads.fixture.js';
import { uploadMetrics } from './upload-metrics.js';
import { uploadQueueName } from './upload-queue.js';

const loseLease = statement(
  'test.lose-lease',
  'UPDATE track_uploads SET lease_token = gen_random_uuid() WHERE id = $1',
);
const loseLeases = statement(
  'test.lose-leases',
  'UPDATE track_uploads SET lease_token = gen_random_uuid() WHERE lease_token IS NOT NULL',
);
const endLease = statement('test.end-lease', 'UPDATE track_uploads SET lease_until = now() WHERE id = $1');
const rowOf = statement(
  'test.row',
  `SELECT status, runs, failed_runs, lease_token IS NOT NULL AS leased, due_at <= now() AS due FROM track_uploads WHERE id = $1`,
);

/** Workers that are killed, stopped and doubled, and a Redis that forgets. */
describe('a track upload', () => {
  const directory = join(tmpdir(), `nothing-is-lost-${randomUUID()}`);
  const settings = { TRACK_UPLOAD_LEASE_MS: 1_000, TRACK_UPLOAD_CONCURRENCY: 4 };
  let api: CreatorApi;
  let server: AudioServer;
  let desk: UploadDesk;
  let redis: Redis;
  let started: { stop(): Promise<unknown> }[];
  beforeAll(async () => {
    await mkdir(directory);
    server = await audioServer();
    redis = new Redis(storeUrl('TEST_REDIS_URL'));
    const environment = { TRACK_UPLOAD_LEASE_MS: '1000', TRACK_UPLOAD_DIRECTORY: directory };
    api = await creatorApi({ ...working, ...environment, TRACK_UPLOAD_CONCURRENCY: '0' });
  });
  afterAll(async () => {
    await api.stop();
    await server.stop();
    redis.disconnect();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    started = [];
    desk = await uploadDesk(api);
  });
  afterEach(async () => {
    for (const one of started) await one.stop();
  });

  const startWorker = (changes: Parameters<CreatorApi['startProcessing']>[0] = {}) => {
    const worker = api.startProcessing({ ...settings, ...changes });
    started.push(worker);
    return worker;
  };
  const startProcess = async () => {
    const child = await startCreatorProcess(api, { TRACK_UPLOAD_DIRECTORY: directory });
    started.push({ stop: child.kill });
    return child;
  };
  const forgetRedis = async () => {
    const keys = await redis.keys(`${api.settings.TRACK_UPLOAD_QUEUE_PREFIX}:*`);
    if (keys.length > 0) await redis.del(keys);
  };
  const row = (id: string) => api.database.row<Record<string, unknown>>(rowOf, [id]);
  /** Answers with the beginning of a file and no more, to whoever asks; says who is being kept waiting. */
  const holdEverybody = () => {
    const held = new Set<ServerResponse>();
    server.answerWith((_request, response) => {
      held.add(response);
      response.on('close', () => held.delete(response));
      response.write(wave().subarray(0, 100_000));
    });
    return held;
  };
  const heldOnes = (held: ReadonlySet<ServerResponse>, count: number) =>
    eventually(
      () => (held.size === count ? true : undefined),
      10_000,
      () => `${held.size} of ${count}`,
    );
  const toldOnce = async (count: number) => {
    await eventually(() => (desk.told().length >= count ? true : undefined));
    expect(desk.told()).toHaveLength(count);
  };

  it('is finished by another when its process is killed in the middle, and leaves nothing on the disk', async () => {
    const held = holdEverybody();
    const dying = await startProcess();
    const { id } = await desk.register(server.url());
    await heldOnes(held, 1);
    expect((await desk.read(id)).status).toBe('processing');
    expect(await dying.kill()).toBe('SIGKILL');
    expect(await readdir(directory)).toEqual([]);
    await heldOnes(held, 0);
    server.send(wave());
    await startProcess();
    expect(await desk.over(id, 28_000)).toMatchObject({ status: 'completed' });
    await toldOnce(1);
    expect(await row(id)).toMatchObject({ runs: 2, failed_runs: 0 });
  }, 60_000);

  it('is left alone by a process that stood still while another took it over', async () => {
    const held = holdEverybody();
    const frozen = await startProcess();
    const { id } = await desk.register(server.url());
    await heldOnes(held, 1);
    frozen.signal('SIGSTOP');
    startWorker();
    await forgetRedis(); // its lock there would have to run out first
    await heldOnes(held, 2);
    frozen.signal('SIGCONT');
    await heldOnes(held, 1); // it has noticed
    for (const response of held) response.end(wave().subarray(100_000));
    expect(await desk.over(id)).toMatchObject({ status: 'completed' });
    await toldOnce(1);
  }, 60_000);

  it('is never worked on by two at once, however many remind of it', async () => {
    const held = holdEverybody();
    const before = server.requests();
    for (const _ of [1, 2])
      startWorker({ TRACK_UPLOAD_CONCURRENCY: 32, TRACK_UPLOAD_ORGANISATION_CONCURRENCY: 16 });
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => (await desk.register(server.url())).id),
    );
    await heldOnes(held, 8);
    const { REDIS_URL: url, TRACK_UPLOAD_QUEUE_PREFIX: prefix } = api.settings;
    const queue = new Queue(uploadQueueName, { connection: { url }, prefix });
    await queue.addBulk([...ids, ...ids].map((uploadId) => ({ name: 'process', data: { uploadId } })));
    // Taken, and put off: somebody is at work.
    await eventually(async () => ((await queue.getDelayedCount()) === 16 ? true : undefined));
    expect(held.size).toBe(8);
    for (const response of held) response.end(wave().subarray(100_000));
    for (const id of ids) expect(await desk.over(id)).toMatchObject({ status: 'completed' });
    await eventually(async () => ((await queue.getDelayedCount()) === 0 ? true : undefined)); // nothing left to do
    await queue.close();
    expect(server.requests()).toBe(before + 8);
    await toldOnce(8);
  }, 60_000);

  it('is found again when Redis never knew of it, or has forgotten', async () => {
    const held = holdEverybody();
    const waiting = await desk.register(server.url());
    await forgetRedis();
    startWorker();
    await heldOnes(held, 1);
    await forgetRedis(); // in the middle of the work
    for (const response of held) response.end(wave().subarray(100_000));
    expect(await desk.over(waiting.id)).toMatchObject({ status: 'completed' });
    await toldOnce(1);
  });

  it('is begun anew by others when its worker is told to stop, and the run does not count', async () => {
    const held = holdEverybody();
    const worker = startWorker();
    const { id } = await desk.register(server.url());
    await heldOnes(held, 1);
    await worker.stop();
    await heldOnes(held, 0);
    expect(await row(id)).toEqual({
      status: 'processing',
      runs: 0,
      failed_runs: 0,
      leased: false,
      due: true,
    });
    server.send(wave());
    startWorker();
    expect(await desk.over(id)).toMatchObject({ status: 'completed' });
    expect(await readdir(directory)).toEqual([]);
  });

  it('is not settled by who has lost it', async () => {
    const held = holdEverybody();
    startWorker();
    const { id } = await desk.register(server.url());
    await heldOnes(held, 1);
    await api.database.run(loseLease, [id]);
    await heldOnes(held, 0); // it stops
    expect(await row(id)).toMatchObject({ status: 'processing', leased: true });
    server.send(wave());
    await api.database.run(endLease, [id]);
    expect(await desk.over(id)).toMatchObject({ status: 'completed' });
    await toldOnce(1);
  });

  it.each([
    ['completed', 200],
    ['failed', 404],
    ['postponed', 503],
  ])('counts as a lost lease, not as %s, where the loss shows with the settling', async (_as, status) => {
    const counted = async () => {
      const [runs, lost] = [await uploadMetrics.runs.get(), await uploadMetrics.leasesLost.get()];
      return [runs.values.reduce((sum, { value }) => sum + value, 0), lost.values[0]?.value ?? 0];
    };
    const [runsBefore = 0, lostBefore = 0] = await counted();
    startWorker({ TRACK_UPLOAD_LEASE_MS: 60_000 }); // renewed after the run
    server.answerWith((_request, response) => {
      void api.database.run(loseLeases).then(() => response.writeHead(status).end(wave()));
    });
    const { id } = await desk.register(server.url());
    await eventually(async () => ((await counted())[1] === lostBefore + 1 ? true : undefined));
    expect(await counted()).toEqual([runsBefore, lostBefore + 1]);
    expect(await row(id)).toMatchObject({ status: 'processing', leased: true });
  });

  it('does not wait for the slow ones of another organisation', async () => {
    const held = holdEverybody();
    startWorker({ TRACK_UPLOAD_ORGANISATION_CONCURRENCY: 2 });
    for (let count = 0; count < 6; count += 1) await desk.register(server.url());
    await heldOnes(held, 2);
    const other = await uploadDesk(api, 'org_other');
    const { id } = await other.register(server.url());
    await heldOnes(held, 3);
    const last = [...held].at(-1);
    last?.end(wave().subarray(100_000));
    expect(await other.over(id)).toMatchObject({ status: 'completed' });
    expect(held.size).toBe(2);
  });

  it('ends when its processes die at it again and again', async () => {
    server.send(wave());
    const { id } = await desk.register(server.url());
    const died = statement('test.died', 'UPDATE track_uploads SET runs = $2 WHERE id = $1');
    await api.database.run(died, [id, 11]);
    startWorker();
    expect(await desk.over(id)).toMatchObject({ status: 'failed', failure: { code: 'internal_error' } });
  });

  it('is told of once when the same track is uploaded twice, each time', async () => {
    server.send(wave());
    startWorker();
    const trackId = uuidv7();
    for (const count of [1, 2]) {
      await desk.over((await desk.register(server.url(), trackId)).id);
      await toldOnce(count);
    }
  });
});
