import request, { type Response, type Test } from 'supertest';
import type { z } from 'zod';
import { documented } from './documented.js';
import { certificateAuthority, suite } from './the-suite.js';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * Sends a request to the gateway, trusting the suite's certificate authority. The response must be
 * documented.
 */
export function send(method: Method, path: string): Test {
  return request(suite.base_url)[method](path).ca(certificateAuthority).expect(documented.check);
}

/** Parses the body of a response. @throws when it does not match the schema */
export function bodyOf<Shape extends z.ZodType>({ body }: Response, shape: Shape): z.output<Shape> {
  const given: unknown = body;
  return shape.parse(given);
}

/** A client of both APIs with one access token. */
export class ApiClient {
  constructor(readonly token: string) {}

  get(path: string): Test {
    return this.send('get', path);
  }

  post(path: string, body?: object): Test {
    return this.withBody('post', path, body);
  }

  patch(path: string, body: object): Test {
    return this.withBody('patch', path, body);
  }

  delete(path: string): Test {
    return this.send('delete', path);
  }

  send(method: Method, path: string): Test {
    return send(method, path).set('authorization', `Bearer ${this.token}`);
  }

  private withBody(method: Method, path: string, body: object | undefined): Test {
    const test = this.send(method, path);
    return body === undefined ? test : test.send(body);
  }
}
