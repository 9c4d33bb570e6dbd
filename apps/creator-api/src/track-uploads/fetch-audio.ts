import type { GuardedClient } from '@fulfilment/guarded-fetch';
import type { CreatorApiSettings } from '../config.js';
import { fetchProblem, holdsFile } from './fetch-outcome.rules.js';
import type { SpoolFile } from './spool.js';
import type { UploadProblem } from './upload-failure.rules.js';

/** Fetches audio from where a stranger said it is, to the disk. */
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
   * Answers what went wrong; nothing when the whole file is there.
   * @throws what the disk says when it does not take the file; the signal's reason when it aborts
   */
  async run(url: string, file: SpoolFile, signal: AbortSignal): Promise<UploadProblem | undefined> {
    const { TRACK_UPLOAD_MAX_BYTES: mostBytes, TRACK_UPLOAD_TIMEOUT_MS: deadlineMs } = this.config;
    const { TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND: slowest, TRACK_UPLOAD_SLOW_FOR_MS: slowForMs } =
      this.config;
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
      minThroughput: { bytes: Math.ceil((slowest * slowForMs) / 1000), intervalMs: slowForMs },
      maxReadBytes: mostBytes + 1, // one more tells that there is more
      maxKeptBytes: 0,
      wantsBody: (statusCode, headers) => holdsFile(statusCode, headers, mostBytes),
      onChunk: (chunk) => {
        writing = file.append(chunk);
        return writing;
      },
      signal,
    });
    await writing;
    signal.throwIfAborted();
    return fetchProblem({ ...exchange, bytes: file.size }, mostBytes);
  }
}
