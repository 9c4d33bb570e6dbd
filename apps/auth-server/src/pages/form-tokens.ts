import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type AuthServerSettings } from '../config.js';
import { Forbidden } from '@fulfilment/error-envelope';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Html, html } from '@fulfilment/http-service';
import type { BrowserRequest } from './browser-request.js';

const fieldName = 'csrf';

/** The hidden field of a form with its token. */
export function csrfField({ csrf }: { readonly csrf: string }): Html {
  return html`<input type="hidden" name="${fieldName}" value="${csrf}" />`;
}

/**
 * Protects forms against cross-site request forgery. The token of a form belongs to its interaction or
 * session, so only the browser with the cookie of either has seen it. If the browser sends `Origin`, it must
 * be ours.
 */
@Injectable()
export class FormTokens {
  /** Newest first; older ones are still accepted. */
  private readonly keys: readonly string[];
  private readonly origin: string;

  constructor(
    @Inject(CONFIG)
    { COOKIE_KEYS: keys, AUTH_URL: authUrl }: Pick<AuthServerSettings, 'COOKIE_KEYS' | 'AUTH_URL'>,
  ) {
    this.keys = keys;
    this.origin = new URL(authUrl).origin;
  }

  /**
   * Returns the token of a form.
   * @param owner what the form belongs to, such as the id of an interaction
   */
  issue(owner: string): string {
    return sign(this.keys[0] ?? '', owner).toString('base64url');
  }

  /** @throws Forbidden when the form comes from another site or its token is not valid for this owner */
  verify(owner: string, { field, pageOrigin }: BrowserRequest): void {
    const actual = Buffer.from(field(fieldName), 'base64url');
    const isValid = this.keys.some((key) => {
      const expected = sign(key, owner);
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    });
    if (!isValid || (pageOrigin !== undefined && pageOrigin !== this.origin))
      throw new Forbidden('The form did not come from this page.');
  }
}

function sign(key: string, owner: string): Buffer {
  return createHmac('sha256', key).update(`form:${owner}`).digest();
}
