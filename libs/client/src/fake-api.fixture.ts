import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { ApiClientOptions } from './api-client.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handles one request. A reply that does not use `response` leaves the request without a response. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void;

/** A server that uses the next reply for each request, repeats the last one, and records the requests. */
export class FakeApi {
  readonly requests: ReceivedRequest[] = [];
  /** The waits that clients with `options()` would have made. */
  readonly waitsMs: number[] = [];
  #replies: readonly Reply[] = [];
  #baseUrl = '';
  #close: () => Promise<void> = () => Promise.resolve();

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const received = { method, url, headers, body: Buffer.concat(chunks).toString() };
        const reply = this.#replies[Math.min(this.requests.length, this.#replies.length - 1)];
        this.requests.push(received);
        reply?.(response, received);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    this.#baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    this.#close = async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    };
  }

  stop(): Promise<void> {
    return this.#close();
  }

  /** Sets the next replies, and deletes the recorded requests and waits. */
  reply(...replies: readonly Reply[]): void {
    this.requests.splice(0);
    this.waitsMs.splice(0);
    this.#replies = replies;
  }

  /** Returns options of a client that records its waits instead of waiting, and whose random number is 0. */
  options(): ApiClientOptions {
    return {
      baseUrl: this.#baseUrl,
      random: () => 0,
      wait: (ms) => {
        this.waitsMs.push(ms);
        return Promise.resolve();
      },
    };
  }
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function failure(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return json(status, { statusCode: status, code, error: 'Error', message: 'It failed.' }, headers);
}

/** Closes the connection without a response. */
export const hangUp: Reply = (response) => {
  response.destroy();
};
