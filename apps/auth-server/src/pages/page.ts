import { Html, html } from '@fulfilment/http-service';
import { isPlainHost } from '../registration/client-registration.rules.js';
import { suiteName } from '../registration/reserved-names.rules.js';
import type { FormProblem } from './form-problem.js';
import { style, styleHash } from './style.js';

/** A response that is shown to a person. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** Default: 200. */
  readonly status?: number;
  /** Where else a form may redirect to: browsers apply `form-action` (CSP) to redirects too. */
  readonly formActionSources?: readonly string[];
  /** Sets the status and Retry-After, and marks the title. The content shows the text. */
  readonly problem?: FormProblem | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Header of an account page, in place of the brand. */
  readonly accountHeader?: Html;
}

const logo = html`<svg viewBox="0 0 32 32" aria-hidden="true">
  <circle cx="16" cy="16" r="15" fill="currentColor" opacity=".16" />
  <circle cx="16" cy="16" r="10.5" fill="none" stroke="currentColor" stroke-width="2.4" />
  <circle cx="16" cy="16" r="3.6" fill="currentColor" />
</svg>`;
export const brand = html`<p class="brand">${logo}<span>${suiteName}</span></p>`;
const styleElement = new Html(`<style>${style}</style>`);

/** Builds a page: the document around its content, and the security headers. */
export function page(parts: PageParts): Page {
  const { title, content, problem, accountHeader } = parts;
  const document = html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${problem === undefined ? title : `Error: ${title}`}</title>
        ${styleElement}
      </head>
      <body ${accountHeader === undefined ? undefined : html`class="account"`}>
        <main>${accountHeader ?? brand} ${content}</main>
        <footer>Check the address bar: only ever type your password on this site.</footer>
      </body>
    </html> `;
  return {
    status: problem?.status ?? parts.status ?? 200,
    headers: {
      ...securityHeaders(parts.formActionSources ?? []),
      ...(problem?.retryAfterSeconds !== undefined && { 'Retry-After': String(problem.retryAfterSeconds) }),
      ...parts.headers,
    },
    body: document.text,
  };
}

function securityHeaders(formActionSources: readonly string[]): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${styleHash}`,
      ["form-action 'self'", ...formActionSources].join(' '),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    // Not no-referrer: browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
  };
}

/**
 * Returns a redirect URI as a source of `form-action`; undefined for a host that is not safe in a policy.
 * Host sources cannot be IPv6 addresses, so those become their scheme.
 */
export function formActionSource(redirectUri: string): string | undefined {
  const uri = new URL(redirectUri);
  if (!isPlainHost(uri)) return undefined;
  const { protocol, host, hostname } = uri;
  if (protocol !== 'https:' && protocol !== 'http:') return protocol;
  return hostname.startsWith('[') ? protocol : `${protocol}//${host}`;
}
