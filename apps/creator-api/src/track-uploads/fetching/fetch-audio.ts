import type { GuardedClient } from '@fulfilment/guarded-fetch';
import type { CreatorApiSettings } from '../../config.js';
import { fetchProblem, mayContainFile } from './fetch-outcome.rules.js';
import type { SpoolFile } from './spool.js';
import type { UploadProblem } from '../upload-failure.rules.js';

/** Downloads audio from an untrusted URL to the disk. */
export class FetchAudio {
  constructor(
    private readonly client: GuardedClient,
    private readonly config: Pick<
      CreatorApiSettings,
      | 'TRACK_UPLOAD_MAX_BYTES'
      | 'TRACK_UPLOAD_TIMEOUT_MS'
      | 'TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND'
      | 'TRACK_UPLOAD_SLOW_FOR_MS'
    >,
  ) {}

  /**
   * Returns the problem; undefined when the file is complete.
   * @throws the error of the disk when writing fails; the signal's reason when it aborts
   */
  async run(url: string, file: SpoolFile, signal: AbortSignal): Promise<UploadProblem | undefined> {
    const {
      TRACK_UPLOAD_MAX_BYTES: maxBytes,
      TRACK_UPLOAD_TIMEOUT_MS: deadlineMs,
      TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND: minBytesPerSecond,
      TRACK_UPLOAD_SLOW_FOR_MS: slowForMs,
    } = this.config;
    let writing = Promise.resolve();
    const exchange = await this.client.send({
      method: 'GET',
      url,
      headers: {
        accept: 'audio/*, application/octet-stream;q=0.9, */*;q=0.1',
        'user-agent': 'Track-Uploads/1',
      },
      deadlineMs,
      bodyTimeoutMs: deadlineMs,
      minThroughput: { bytes: Math.ceil((minBytesPerSecond * slowForMs) / 1000), intervalMs: slowForMs },
      maxReadBytes: maxBytes + 1, // one more byte shows that the file is too large
      maxKeptBytes: 0,
      wantsBody: (statusCode, headers) => mayContainFile(statusCode, headers, maxBytes),
      onChunk: (chunk) => {
        writing = file.append(chunk);
        return writing;
      },
      signal,
    });
    await writing; // the exchange may end before the last chunk is on disk
    signal.throwIfAborted();
    return fetchProblem({ ...exchange, bytes: file.size }, maxBytes);
  }
}
