import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { GuardedRequest } from './guarded-client.js';
import { newClient, postRequest, serve, stopAll } from './guarded-client.fixture.js';

afterEach(stopAll);

// The default limits of `postRequest` are 16,384 bytes to read and 4,096 bytes to keep.

describe('the body of a response', () => {
  it('does not delay the outcome when it arrives in drops: the status decides', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const exchange = await newClient().send(postRequest(url, { bodyTimeoutMs: 300 }));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.durationMs).toBeLessThan(60_000); // the deadline of the whole exchange
  });

  it('is read up to the limit when it is endless: its beginning is kept and the connection closed', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.on('close', () => closed.resolve());
      const pour = (): void => {
        let hasRoom = true;
        while (hasRoom && !response.destroyed) hasRoom = response.write(Buffer.alloc(65_536, 'a'));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const exchange = await newClient().send(postRequest(url));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.body.toString()).toBe('a'.repeat(4_096));
    await closed.promise;
  });

  it.each([
    [4_096, false],
    [4_097, true],
    [16_384, true],
  ])(
    'of %i bytes is read to its end, and is reported as truncated: %j (more was read than kept)',
    async (bytes, truncated) => {
      const url = await serve((_request, response) => response.end(Buffer.alloc(bytes)));
      expect(await newClient().send(postRequest(url))).toMatchObject({ complete: true, truncated });
    },
  );

  it('is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const exchange = await newClient().send(postRequest(url));
    expect(exchange.body.equals(bomb.subarray(0, 4_096))).toBe(true);
  });

  it('is passed to onChunk up to maxReadBytes', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(300_000)));
    let bytes = 0;
    const onChunk = (chunk: Buffer): void => {
      bytes += chunk.length;
    };
    const large = { method: 'GET' as const, body: undefined, maxKeptBytes: 0, onChunk };
    expect(await newClient().send(postRequest(url, { ...large, maxReadBytes: 300_000 }))).toMatchObject({
      complete: true,
    });
    expect(bytes).toBe(300_000);
    bytes = 0;
    expect(await newClient().send(postRequest(url, { ...large, maxReadBytes: 100_000 }))).toMatchObject({
      complete: false,
    });
    expect(bytes).toBe(100_000);
  });

  it('is read no faster than it is consumed', async () => {
    const totalBytes = 64 * 1024 * 1024;
    let sentBytes = 0;
    const url = await serve((_request, response) => {
      const pour = (): void => {
        let hasRoom = true;
        while (hasRoom && sentBytes < totalBytes) {
          hasRoom = response.write(Buffer.alloc(65_536));
          sentBytes += 65_536;
        }
        if (sentBytes < totalBytes) response.once('drain', pour);
        else response.end();
      };
      pour();
    });
    let consumedBytes = 0;
    let running = 0;
    let maxRunning = 0;
    let maxUnconsumedBytes = 0;
    const exchange = await newClient().send(
      postRequest(url, {
        bodyTimeoutMs: 60_000,
        maxReadBytes: Infinity,
        maxKeptBytes: 0,
        onChunk: async (chunk) => {
          running += 1;
          maxRunning = Math.max(maxRunning, running);
          maxUnconsumedBytes = Math.max(maxUnconsumedBytes, sentBytes - consumedBytes);
          await new Promise((resolve) => setImmediate(resolve));
          consumedBytes += chunk.length;
          running -= 1;
        },
      }),
    );
    expect(exchange).toMatchObject({ complete: true, abortReason: undefined });
    expect([consumedBytes, maxRunning]).toEqual([totalBytes, 1]);
    expect(maxUnconsumedBytes).toBeLessThan(totalBytes / 2); // the sockets buffer some, not the whole body
  });

  it('continues to be read after a pause in which no data arrived', async () => {
    let current: ServerResponse | undefined;
    const url = await serve((_request, response) => {
      current = response;
      response.write('first');
    });
    const received: string[] = [];
    const exchange = await newClient().send(
      postRequest(url, {
        maxKeptBytes: 0,
        onChunk: (chunk) => {
          received.push(chunk.toString());
          if (chunk.toString() === 'first') setImmediate(() => current?.end('second'));
          return Promise.resolve();
        },
      }),
    );
    expect(exchange.complete).toBe(true);
    expect(received).toEqual(['first', 'second']);
  });

  it('is incomplete when the exchange is aborted, and the reason is reported', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(Buffer.alloc(100_000));
    });
    const controller = new AbortController();
    const abortReason = async (changes: Partial<GuardedRequest>) => {
      const exchange = await newClient().send(postRequest(url, changes));
      expect(exchange.complete).toBe(false);
      return exchange.abortReason;
    };
    expect(await abortReason({})).toBe('limit');
    expect(await abortReason({ maxReadBytes: 200_000, bodyTimeoutMs: 50 })).toBe('deadline');
    expect(
      await abortReason({
        wantsBody: (status, headers) => status === 200 && headers['content-type'] === 'audio/mpeg',
      }),
    ).toBe('caller');
    const diskFull = () => Promise.reject(new Error('The disk is full.'));
    expect(await abortReason({ maxReadBytes: 200_000, onChunk: diskFull })).toBe('caller');
    const abort = () => controller.abort();
    expect(await abortReason({ maxReadBytes: 200_000, signal: controller.signal, onChunk: abort })).toBe(
      'caller',
    );
    expect(await newClient().send(postRequest(url, { signal: AbortSignal.abort() }))).toMatchObject({
      outcome: 'connection_failed',
      abortReason: 'caller',
    });
  });
});
