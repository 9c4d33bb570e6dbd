import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { InvalidAudio } from './invalid-audio.js';
import { describeAudio } from './describe-audio.js';

/** The program of the worker thread that analyses one audio file and exits (read-audio.ts). */
const { fd, size } = z.object({ fd: z.int(), size: z.int() }).parse(workerData);
try {
  parentPort?.postMessage({ described: await describeAudio(fd, size) });
} catch (error) {
  if (!(error instanceof InvalidAudio)) throw error;
  parentPort?.postMessage({ rejected: error.failure });
}
