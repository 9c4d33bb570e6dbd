import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { uploadFailureCodes } from '../upload-failure.rules.js';
import { audioProperties } from './audio-properties.js';
import { InvalidAudio } from './invalid-audio.js';
import type { DescribedAudio } from './describe-audio.js';

/**
 * Far longer than an analysis, also with a quarter of a core: a FLAC file of 79 MB takes 0.2 s, an MP3 file
 * of 24 hours 5 s (ADR 17). A file that takes longer is broken for good.
 */
const timeoutMs = 60_000;
const maxHeapMegabytes = 192;
const program = new URL('./audio-thread.js', import.meta.url);

const threadMessage = z.union([
  z.object({
    described: z.object({
      audio: audioProperties,
      title: z.string().nullable(),
      position: z.int().nullable(),
    }),
  }),
  z.object({ rejected: z.object({ code: z.enum(uploadFailureCodes), message: z.string() }) }),
]);

/**
 * Analyses untrusted audio files in a worker thread, one at a time. The thread has a time limit and a heap
 * limit, so a hostile file ends its thread and not the service.
 */
export class ReadAudio {
  private previous: Promise<unknown> = Promise.resolve();

  /** @param threadProgram URL of compiled JavaScript; a worker thread does not compile TypeScript */
  constructor(private readonly threadProgram = program) {}

  /** @throws InvalidAudio; the signal's reason when it aborts; any other error of the thread */
  run(file: { readonly fd: number; readonly size: number }, signal: AbortSignal): Promise<DescribedAudio> {
    const reading = this.previous.then(() => this.readInThread(file, signal));
    this.previous = reading.catch(() => undefined);
    return reading;
  }

  private async readInThread(
    { fd, size }: { readonly fd: number; readonly size: number },
    signal: AbortSignal,
  ): Promise<DescribedAudio> {
    signal.throwIfAborted();
    const thread = new Worker(this.threadProgram, {
      workerData: { fd, size },
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
      stdout: true, // discards what a library prints
      stderr: true,
    });
    // `once` removes its error listener when it is aborted, and an unhandled error ends the process.
    thread.on('error', () => undefined);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const posted: unknown[] = await once(thread, 'message', { signal: ended });
      const message = threadMessage.parse(posted[0]);
      if ('described' in message) return message.described;
      throw new InvalidAudio(message.rejected.code, message.rejected.message);
    } catch (error) {
      signal.throwIfAborted();
      if (ended.aborted || Reflect.get(Object(error), 'code') === 'ERR_WORKER_OUT_OF_MEMORY')
        throw new InvalidAudio('broken', 'The analysis of the file exceeded the time or memory limit.');
      throw error;
    } finally {
      await thread.terminate();
    }
  }
}
