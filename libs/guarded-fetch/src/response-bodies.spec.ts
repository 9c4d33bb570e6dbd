import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { GuardedRequest } from './guarded-client.js';
import { client, post, serve, stopAll } from './guarded-client.fixture.js';

afterEach(stopAll);

describe('the body of an answer', () => {
  it('takes the status for the outcome when the body drips, and does not wait for it', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const exchange = await client().send(post(url, { deadlineMs: 10_000 }));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.durationMs).toBeLessThan(2_000);
  });

  it('stops reading an endless body, keeps its beginning and closes the connection', async () => {
    let tellClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      tellClosed = resolve;
    });
    const url = await serve((_request, response) => {
      response.on('close', tellClosed);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'a')));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const exchange = await client().send(post(url));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.body.toString()).toBe('a'.repeat(4_096));
    await closed;
  });

  it.each([
    [4_096, false],
    [4_097, true],
    [16_384, true],
  ])('of %i bytes is read to its end, and says whether more was read than kept', async (bytes, truncated) => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(bytes)));
    expect(await client().send(post(url))).toMatchObject({ complete: true, truncated });
  });

  it('does not inflate a compressed body', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const exchange = await client().send(post(url));
    expect(exchange.body.equals(bomb.subarray(0, 4_096))).toBe(true);
  });

  it('hands a large body on as it comes, up to its limit', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(300_000)));
    let bytes = 0;
    const onChunk = (chunk: Buffer): void => {
      bytes += chunk.length;
    };
    const large = {
      method: 'GET' as const,
      body: undefined,
      bodyWithinMs: 2_000,
      keepAtMostBytes: 0,
      onChunk,
    };
    expect(await client().send(post(url, { ...large, readAtMostBytes: 300_000 }))).toMatchObject({
      complete: true,
    });
    expect(bytes).toBe(300_000);
    bytes = 0;
    expect(await client().send(post(url, { ...large, readAtMostBytes: 100_000 }))).toMatchObject({
      complete: false,
    });
    expect(bytes).toBe(100_000);
  });

  it('reads no faster than the body is taken', async () => {
    let sent = 0;
    const url = await serve((_request, response) => {
      const pour = (): void => {
        let room = true;
        while (room && sent < 64 * 1024 * 1024) {
          room = response.write(Buffer.alloc(65_536));
          sent += 65_536;
        }
        if (sent < 64 * 1024 * 1024) response.once('drain', pour);
        else response.end();
      };
      pour();
    });
    let taken = 0;
    let atWork = 0;
    let mostAtWork = 0;
    let mostAhead = 0;
    const exchange = await client().send(
      post(url, {
        deadlineMs: 30_000,
        bodyWithinMs: 30_000,
        readAtMostBytes: Infinity,
        keepAtMostBytes: 0,
        onChunk: async (chunk) => {
          mostAtWork = Math.max(mostAtWork, ++atWork);
          mostAhead = Math.max(mostAhead, sent - taken);
          await new Promise((resolve) => setImmediate(resolve));
          taken += chunk.length;
          atWork -= 1;
        },
      }),
    );
    expect(exchange).toMatchObject({ complete: true, cutBy: undefined });
    expect([taken, mostAtWork]).toEqual([64 * 1024 * 1024, 1]);
    expect(mostAhead).toBeLessThan(32 * 1024 * 1024); // what sockets hold, not the whole body
  });

  it('ends one that comes too slowly, and none that is only taken slowly', async () => {
    const slowest = { bytes: 1_000, inMs: 200 };
    const patient = {
      deadlineMs: 10_000,
      bodyWithinMs: 10_000,
      keepAtMostBytes: 0,
      readAtMostBytes: Infinity,
    };
    const drip = (bytes: number) =>
      serve((_request, response) => {
        const timer = setInterval(() => response.write(Buffer.alloc(bytes)), 20);
        response.on('close', () => clearInterval(timer));
      });
    const slow = await client().send(post(await drip(10), { ...patient, slowest }));
    expect(slow).toMatchObject({ outcome: 'succeeded', complete: false, cutBy: 'slow' });
    expect(slow.durationMs).toBeLessThan(1_000);
    const silent = await serve(() => undefined);
    expect(await client().send(post(silent, { ...patient, slowest }))).toMatchObject({
      outcome: 'timeout',
      cutBy: 'slow',
    });
    const steady = post(await drip(1_000), { ...patient, bodyWithinMs: 900, slowest });
    expect(await client().send(steady)).toMatchObject({ cutBy: 'deadline' });
    const large = await serve((_request, response) => response.end(Buffer.alloc(500_000)));
    const onChunk = () => new Promise<void>((resolve) => setTimeout(resolve, 250));
    expect(await client().send(post(large, { ...patient, slowest, onChunk }))).toMatchObject({
      complete: true,
      cutBy: undefined,
    });
  });

  it('waits for more when all that came was taken at once', async () => {
    let answer: ServerResponse | undefined;
    const url = await serve((_request, response) => {
      answer = response;
      response.write('first');
    });
    const taken: string[] = [];
    const exchange = await client().send(
      post(url, {
        keepAtMostBytes: 0,
        onChunk: (chunk) => {
          taken.push(chunk.toString());
          if (chunk.toString() === 'first') setImmediate(() => answer?.end('second'));
          return Promise.resolve();
        },
      }),
    );
    expect(exchange.complete).toBe(true);
    expect(taken).toEqual(['first', 'second']);
  });

  it('says what cut an exchange short', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(Buffer.alloc(100_000));
    });
    const controller = new AbortController();
    const cutBy = async (changes: Partial<GuardedRequest>) => (await client().send(post(url, changes))).cutBy;
    expect(await cutBy({})).toBe('limit');
    expect(await cutBy({ readAtMostBytes: 200_000, bodyWithinMs: 50 })).toBe('deadline');
    expect(
      await cutBy({
        wantsBody: (status, headers) => status === 200 && headers['content-type'] === 'audio/mpeg',
      }),
    ).toBe('caller');
    const patient = { readAtMostBytes: 200_000, bodyWithinMs: 2_000 };
    expect(await cutBy({ ...patient, onChunk: () => Promise.reject(new Error('The disk is full.')) })).toBe(
      'caller',
    );
    expect(await cutBy({ ...patient, signal: controller.signal, onChunk: () => controller.abort() })).toBe(
      'caller',
    );
    expect(await client().send(post(url, { signal: AbortSignal.abort() }))).toMatchObject({
      outcome: 'connection_failed',
      cutBy: 'caller',
    });
  });
});
