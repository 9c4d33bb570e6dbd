import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';

export interface ApiResponse<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

/** Connections that trust the suite's own certificate authority. */
export function agentTrusting(ca: string | undefined): Agent {
  return new Agent({ connect: { ca } });
}

/** Sends one request. @throws Failure without a response */
export async function send(
  url: string,
  options: {
    readonly method: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
    readonly dispatcher: Dispatcher;
  },
): Promise<ApiResponse<string>> {
  try {
    const { statusCode, headers, body } = await request(url, options);
    return { status: statusCode, headers, body: await body.text() };
  } catch (error) {
    throw new Failure(`${options.method} ${url}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A client of one API with a token. @throws Failure for an unsuccessful response or an invalid body */
export class Api {
  private readonly base: string;
  private readonly token: string;
  private readonly dispatcher: Dispatcher;

  constructor(base: string, token: string, ca: string) {
    this.base = base;
    this.token = token;
    this.dispatcher = agentTrusting(ca);
  }

  get<Body>(path: string, shape: z.ZodType<Body>): Promise<ApiResponse<Body>> {
    return this.call('GET', path, shape);
  }

  post<Body>(
    path: string,
    body: object,
    shape: z.ZodType<Body>,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<Body>> {
    return this.call('POST', path, shape, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    });
  }

  async delete(path: string): Promise<number> {
    const response = await send(`${this.base}${path}`, {
      method: 'DELETE',
      headers: this.credentials(),
      dispatcher: this.dispatcher,
    });
    if (response.status !== 204)
      throw new Failure(
        `Expected DELETE ${path} to respond with 204, but it responded with ${response.status}: ${response.body}`,
      );
    return response.status;
  }

  private async call<Body>(
    method: string,
    path: string,
    shape: z.ZodType<Body>,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<Body>> {
    const response = await send(`${this.base}${path}`, {
      method,
      headers: { ...this.credentials(), ...headers },
      body,
      dispatcher: this.dispatcher,
    });
    if (response.status >= 300)
      throw new Failure(
        `Expected ${method} ${path} to succeed, but it responded with ${response.status}: ${response.body}`,
      );
    const read = shape.safeParse(JSON.parse(response.body));
    if (!read.success)
      throw new Failure(`Unexpected response of ${method} ${path}: ${z.prettifyError(read.error)}`);
    return { ...response, body: read.data };
  }

  private credentials(): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, accept: 'application/json' };
  }
}
