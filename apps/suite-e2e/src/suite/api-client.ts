import request, { type Response, type Test } from 'supertest';
import type { z } from 'zod';
import { documented } from './documented.js';
import { certificateAuthority, suite } from './the-suite.js';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** A request to the gateway, over HTTPS, trusting the suite's own certificate authority. Its answer must be a documented one. */
export function send(method: Method, path: string): Test {
  return request(suite.base_url)[method](path).ca(certificateAuthority).expect(documented.check);
}

/** The answer's body, in the shape the caller goes on with. @throws when it has another */
export function bodyOf<Shape extends z.ZodType>({ body }: Response, shape: Shape): z.output<Shape> {
  const given: unknown = body;
  return shape.parse(given);
}

/** The two APIs as one who holds this token calls them. */
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
    const made = this.send(method, path);
    return body === undefined ? made : made.send(body);
  }
}
