import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { uploadFailureCodes } from '../upload-failure.rules.js';
import { audioFacts } from './audio-facts.js';
import { AudioRefused } from './audio-refused.js';
import type { DescribedAudio } from './describe-audio.js';

const withinMs = 60_000;
const mostHeapMegabytes = 192;
const program = new URL('./audio-thread.js', import.meta.url);

const report = z.union([
  z.object({
    described: z.object({
      audio: audioFacts,
      title: z.string().nullable(),
      position: z.int().nullable(),
    }),
  }),
  z.object({ refused: z.object({ code: z.enum(uploadFailureCodes), message: z.string() }) }),
]);

/**
 * Reads files of audio in a thread, one after another, so that neither the answers of the service nor its memory hang on what strangers
 * wrote: a file that takes too long, too much or an unforeseen turn ends its thread.
 */
export class ReadAudio {
  private turn: Promise<unknown> = Promise.resolve();

  /** @param threadProgram compiled: a thread does not compile TypeScript by the way */
  constructor(private readonly threadProgram = program) {}

  /** @throws AudioRefused; the signal's reason when it aborts; else what nobody foresaw */
  run(file: { readonly fd: number; readonly size: number }, signal: AbortSignal): Promise<DescribedAudio> {
    const reading = this.turn.then(() => this.readInThread(file, signal));
    this.turn = reading.catch(() => undefined);
    return reading;
  }

  private async readInThread(
    { fd, size }: { readonly fd: number; readonly size: number },
    signal: AbortSignal,
  ): Promise<DescribedAudio> {
    signal.throwIfAborted();
    const thread = new Worker(this.threadProgram, {
      workerData: { fd, size },
      resourceLimits: { maxOldGenerationSizeMb: mostHeapMegabytes },
      stdout: true, // what a library prints is nobody's
      stderr: true,
    });
    // `once` takes its own away when it is aborted, and an error that nobody hears ends the process.
    thread.on('error', () => undefined);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    try {
      const read = report.parse((await once(thread, 'message', { signal: ended }))[0]);
      if ('refused' in read) throw new AudioRefused(read.refused.code, read.refused.message);
      return read.described;
    } catch (error) {
      signal.throwIfAborted();
      if (ended.aborted || Reflect.get(Object(error), 'code') === 'ERR_WORKER_OUT_OF_MEMORY')
        throw new AudioRefused('broken', 'The analysis of the file exceeded the time or memory limit.');
      throw error;
    } finally {
      await thread.terminate();
    }
  }
}
