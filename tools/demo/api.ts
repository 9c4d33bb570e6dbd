import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

/** Sends one request over HTTPS, trusting the suite's own certificate authority. */
export async function send(
  url: string,
  options: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly agent: Agent;
  },
): Promise<Answer<string>> {
  const { method, headers, body, agent } = options;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(url, { method, headers, agent }, (incoming) => {
      text(incoming).then(
        (read) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: read }),
        reject,
      );
    });
    outgoing.once('error', (error) => reject(new Failure(`${method} ${url}: ${error.message}`)));
    outgoing.end(body);
  });
}

/** A client of one API with a token. @throws Failure for an unsuccessful response or an invalid body */
export class Api {
  private readonly base: string;
  private readonly token: string;
  private readonly agent: Agent;

  constructor(base: string, token: string, ca: string) {
    this.base = base;
    this.token = token;
    this.agent = new Agent({ ca, keepAlive: true });
  }

  get<Body>(path: string, shape: z.ZodType<Body>): Promise<Answer<Body>> {
    return this.call('GET', path, shape);
  }

  post<Body>(
    path: string,
    body: object,
    shape: z.ZodType<Body>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    return this.call('POST', path, shape, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    });
  }

  async delete(path: string): Promise<number> {
    const answer = await send(`${this.base}${path}`, {
      method: 'DELETE',
      headers: this.credentials(),
      agent: this.agent,
    });
    if (answer.status !== 204)
      throw new Failure(
        `Expected DELETE ${path} to respond with 204, but it responded with ${answer.status}: ${answer.body}`,
      );
    return answer.status;
  }

  private async call<Body>(
    method: string,
    path: string,
    shape: z.ZodType<Body>,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const answer = await send(`${this.base}${path}`, {
      method,
      headers: { ...this.credentials(), ...headers },
      body,
      agent: this.agent,
    });
    if (answer.status >= 300)
      throw new Failure(
        `Expected ${method} ${path} to succeed, but it responded with ${answer.status}: ${answer.body}`,
      );
    const read = shape.safeParse(JSON.parse(answer.body));
    if (!read.success)
      throw new Failure(`Unexpected response of ${method} ${path}: ${z.prettifyError(read.error)}`);
    return { ...answer, body: read.data };
  }

  private credentials(): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, accept: 'application/json' };
  }
}
