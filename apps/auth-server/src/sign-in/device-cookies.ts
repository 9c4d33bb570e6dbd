import { Inject, Injectable } from '@nestjs/common';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Credentials } from '../users/read-accounts.js';
import { CONFIG, type AuthServerSettings } from '../config.js';
import type { Cookie } from '../pages/page-result.interceptor.js';

/**
 * Maximum number of accounts in one cookie, the most recent first. The value of the cookie is
 * `<id>.<signature>` for each account, joined by `~`.
 */
const maxAccounts = 5;
const maxAgeMs = 400 * 24 * 3_600_000; // the longest a browser keeps a cookie (RFC 6265bis §5.5)
const entryPattern = /^[\w-]{22}\.[\w-]{43}$/;

/**
 * Recognises a browser that signed in to an account before, by a cookie (OWASP: Slow Down Online Guessing
 * Attacks with Device Cookies). The cookie gives the browser its own limit of guesses and nothing else. It is
 * bound to the account and its password, so a new password makes it invalid.
 */
@Injectable()
export class DeviceCookies {
  private readonly name: string;
  private readonly secure: boolean;

  constructor(@Inject(CONFIG) private readonly config: Pick<AuthServerSettings, 'AUTH_URL' | 'COOKIE_KEYS'>) {
    this.secure = config.AUTH_URL.startsWith('https:');
    this.name = this.secure ? '__Host-device' : 'device';
  }

  /** Returns the id of this browser for the account; undefined when it has none. */
  find(cookies: string | undefined, user: Credentials | undefined): string | undefined {
    if (user === undefined) return undefined;
    const entry = this.entries(cookies).find((candidate) => this.isMatch(candidate, user));
    return entry?.slice(0, entry.indexOf('.'));
  }

  /** Returns the cookie for an account that was just signed in to, or whose password was just changed. */
  issue(cookies: string | undefined, user: Credentials): Cookie {
    const id = this.find(cookies, user) ?? randomBytes(16).toString('base64url');
    const others = this.entries(cookies).filter((entry) => !entry.startsWith(`${id}.`));
    const value = [`${id}.${signature(this.config.COOKIE_KEYS[0] ?? '', id, user)}`, ...others]
      .slice(0, maxAccounts)
      .join('~');
    return { name: this.name, value, secure: this.secure, maxAgeMs };
  }

  private entries(cookies = ''): string[] {
    const prefix = `${this.name}=`;
    const cookie = cookies
      .split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(prefix));
    return (cookie?.slice(prefix.length) ?? '')
      .split('~', maxAccounts)
      .filter((entry) => entryPattern.test(entry));
  }

  private isMatch(entry: string, user: Credentials): boolean {
    const [id = '', actual = ''] = entry.split('.');
    return this.config.COOKIE_KEYS.some((key) =>
      timingSafeEqual(Buffer.from(actual), Buffer.from(signature(key, id, user))),
    );
  }
}

/** Returns 43 characters. A new password hash makes every earlier signature invalid. */
function signature(key: string, id: string, { id: userId, password_hash }: Credentials): string {
  return createHmac('sha256', key).update(`device:${userId}:${id}:${password_hash}`).digest('base64url');
}
