import type { Response } from 'express';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Sends a stream as a file; the extension of its name decides the content type. If the stream fails, the
 * connection is closed without the end of the body, so that the client sees an incomplete response.
 * @throws the error of the stream, but not when the client disconnects
 */
export async function sendDownload(response: Response, content: Readable, fileName: string): Promise<void> {
  response.attachment(fileName);
  await send(response, content);
}

/**
 * Sends server-sent events, which nginx passes on at once. If the stream fails, the connection is closed.
 * @throws the error of the stream, but not when the client disconnects
 */
export async function sendEvents(response: Response, events: Readable): Promise<void> {
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('X-Accel-Buffering', 'no');
  await send(response, events);
}

async function send(response: Response, content: Readable): Promise<void> {
  if (response.req.method === 'HEAD') {
    content.destroy(); // it would hold its resources until it has been read, and events never end
    response.end();
    return;
  }
  if (response.destroyed) {
    content.destroy(); // the client disconnected before the stream began; `pipeline` would not destroy it
    return;
  }
  try {
    await pipeline(content, response);
  } catch (error) {
    const isDisconnect =
      error instanceof Error && Reflect.get(error, 'code') === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!isDisconnect) throw error;
  }
}
