import type { Response } from 'express';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Sends a stream as a file; the extension of its name decides the content type. If the stream fails, the
 * connection is closed without the end of the body, so that the client sees an incomplete response.
 * @throws the error of the stream; a client that disconnects is none
 */
export async function sendDownload(response: Response, content: Readable, fileName: string): Promise<void> {
  response.attachment(fileName);
  try {
    await pipeline(content, response);
  } catch (error) {
    const isDisconnect =
      error instanceof Error && Reflect.get(error, 'code') === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!isDisconnect) throw error;
  }
}
