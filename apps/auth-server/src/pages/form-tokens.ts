import { Forbidden } from '@fulfilment/error-envelope';
import type { Request } from 'express';
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Keeps other sites from sending our forms. Each form holds a token of its own interaction, which only the browser that was given
 * the interaction's cookie has seen; what a browser says about the sender's origin has to agree.
 */
export class FormTokens {
  private readonly origin: string;

  /** @param keys newest first; older ones are still accepted */
  constructor(
    private readonly keys: readonly string[],
    authUrl: string,
  ) {
    this.origin = new URL(authUrl).origin;
  }

  issue(uid: string): string {
    return sign(this.keys[0] ?? '', uid).toString('base64url');
  }

  /** @throws Forbidden */
  verify(uid: string, token: string, request: Pick<Request, 'headers'>): void {
    const given = Buffer.from(token, 'base64url');
    const good = this.keys.some((key) => {
      const expected = sign(key, uid);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    const origin = request.headers.origin;
    if (!good || (origin !== undefined && origin !== this.origin))
      throw new Forbidden('The form did not come from this page.');
  }
}

function sign(key: string, uid: string): Buffer {
  return createHmac('sha256', key).update(`form:${uid}`).digest();
}
