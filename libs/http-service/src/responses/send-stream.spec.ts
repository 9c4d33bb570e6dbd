import { listen } from '@fulfilment/testing';
import express, { type Response } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { sendDownload, sendEvents } from './send-stream.js';

describe.each<[string, (response: Response, content: Readable) => Promise<void>]>([
  ['sendDownload', (response, content) => sendDownload(response, content, 'file.csv')],
  ['sendEvents', sendEvents],
])('%s', (_name, send) => {
  it('destroys the stream and throws nothing if the client has already disconnected', async () => {
    const content = new PassThrough();
    const client = new AbortController();
    const sent = Promise.withResolvers<void>();
    const app = express().get('/', async (_request, response) => {
      client.abort();
      await once(response, 'close');
      await send(response, content).then(sent.resolve, sent.reject);
    });
    const { port, close } = await listen(createServer(app));
    const url = `http://127.0.0.1:${port}`;
    await expect(fetch(url, { signal: client.signal })).rejects.toThrow('aborted');
    await expect(sent.promise).resolves.toBeUndefined();
    expect(content.destroyed).toBe(true);
    await close();
  });
});
