import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { AudioRefused } from './audio-refused.js';
import { describeAudio } from './describe-audio.js';

/** The program of the thread that reads one file of audio and ends (read-audio.ts). */
const { fd, size } = z.object({ fd: z.int(), size: z.int() }).parse(workerData);
try {
  parentPort?.postMessage({ described: await describeAudio(fd, size) });
} catch (error) {
  if (!(error instanceof AudioRefused)) throw error;
  parentPort?.postMessage({ refused: error.failure });
}
