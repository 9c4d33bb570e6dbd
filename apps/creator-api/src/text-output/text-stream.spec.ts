import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { textStream as startTextStream, type WriteText } from './text-stream.js';

const block = 'x'.repeat(64 * 1024);
const textStream = (
  produce: (write: WriteText) => Promise<void>,
  { maxDurationMs = 60_000 }: { readonly maxDurationMs?: number } = {},
) => startTextStream(produce, maxDurationMs);

describe('a stream of text', () => {
  it('has everything that was written, in order', async () => {
    const stream = await textStream(async (write) => {
      for (let index = 0; index < 50; index += 1) await write(`${index}${block}\n`);
    });
    const lines = (await text(stream)).split('\n');
    expect(lines.slice(0, -1).map((line) => line.replace(block, ''))).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index)),
    );
  });

  it('pauses its producer while the stream is not read', async () => {
    let written = 0;
    const stream = await textStream(async (write) => {
      for (; written < 50; written += 1) await write(block);
    });
    for (let turn = 0; turn < 100; turn += 1) await eventLoopTurn();
    expect(written).toBeLessThan(4); // the buffers of the stream take some blocks
    await text(stream);
    expect(written).toBe(50);
  });

  it('ends its producer when the reader leaves', async () => {
    let producing: Promise<void> = Promise.resolve();
    const stream = await textStream((write) => {
      producing = (async () => {
        for (;;) await write(block);
      })();
      return producing;
    });
    stream.destroy();
    await expect(producing).rejects.toThrow('The reader has left.');
  });

  it('fails, and ends its producer, when it has not been read to its end in time', async () => {
    let producing: Promise<void> = Promise.resolve();
    const produce = (write: WriteText) => {
      producing = (async () => {
        for (;;) await write(block);
      })();
      return producing;
    };
    const stream = await textStream(produce, { maxDurationMs: 20 });
    await expect(finished(stream)).rejects.toThrow('The reader is too slow.');
    await expect(producing).rejects.toThrow('The reader has left.');
  });

  it('is not returned if its producer fails before the first write, and fails if the producer fails later', async () => {
    const failure = new Error('lost');
    await expect(textStream(() => Promise.reject(failure))).rejects.toBe(failure);
    const stream = await textStream(async (write) => {
      await write('begun');
      throw failure;
    });
    await expect(text(stream)).rejects.toBe(failure);
  });
});
