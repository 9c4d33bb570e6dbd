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
export function bodyOf<Shape extends z.ZodType>(response: Response, shape: Shape): z.output<Shape> {
  return shape.parse(response.body);
}

/** A client of both APIs with one access token. */
export class ApiClient {
  constructor(readonly token: string) {}

  get(path: string): Test {
    return this.send('get', path);
  }

  post(path: string, body?: object): Test {
    return this.send('post', path).send(body);
  }

  patch(path: string, body: object): Test {
    return this.send('patch', path).send(body);
  }

  delete(path: string): Test {
    return this.send('delete', path);
  }

  send(method: Method, path: string): Test {
    return send(method, path).set('authorization', `Bearer ${this.token}`);
  }
}
