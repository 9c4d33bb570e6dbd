import type { Configuration } from 'oidc-provider';
import type { AuthServerSettings } from '../../config.js';

/**
 * Cookies are signed, HttpOnly and SameSite. The session cookie is bound to this host (`__Host-`, RFC 6265bis
 * §4.1.3), the others to the path of one interaction. Without TLS, which is a relaxed setting, they have no
 * prefixes. oidc-provider uses the options `long` for the session cookie, and `short` for the others.
 */
export function cookieSettings(config: Pick<AuthServerSettings, 'AUTH_URL' | 'COOKIE_KEYS'>) {
  const secure = config.AUTH_URL.startsWith('https:');
  return {
    keys: config.COOKIE_KEYS,
    names: {
      session: secure ? '__Host-session' : 'session',
      interaction: secure ? '__Secure-interaction' : 'interaction',
      resume: secure ? '__Secure-resume' : 'resume',
    },
    long: { path: '/', httpOnly: true, sameSite: 'lax', secure, signed: true },
    short: { httpOnly: true, sameSite: 'lax', secure, signed: true },
  } as const satisfies Configuration['cookies'];
}
