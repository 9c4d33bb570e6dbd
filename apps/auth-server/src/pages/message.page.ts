import { type RateLimited, toErrorResponse } from '@fulfilment/error-envelope';
import { type Html, html } from '@fulfilment/http-service';
import { type Page, page, type PageParts } from './page.js';

interface MessagePageParts extends Omit<PageParts, 'content'> {
  readonly status: number;
  readonly text: string;
  /** Content below the text. */
  readonly more?: Html;
  /** OAuth error code, for support. */
  readonly code?: string;
}

/** Builds a page with one message. */
export function messagePage({ text, more, code, ...parts }: MessagePageParts): Page {
  return page({
    ...parts,
    content: html`<h1>${parts.title}</h1>
      <p>${text}</p>
      ${more} ${code === undefined ? undefined : html`<p class="soft small">Reason: ${code}</p>`}`,
  });
}

/** For a 503 because a dependency is unavailable. */
export const outageHeaders = { 'Retry-After': '2' };

export function unavailablePage(): Page {
  return messagePage({
    title: 'This page is temporarily unavailable',
    text: 'Wait a few seconds, then reload this page.',
    status: 503,
    headers: outageHeaders,
  });
}

/** Page for a person who cancelled the sign-in to the account pages. */
export function notSignedInPage(): Page {
  return messagePage({
    title: 'You are not signed in',
    text: 'Sign in to manage your account.',
    status: 200,
    more: html`<p><a class="button" href="/account">Sign in</a></p>`,
  });
}

export function tooManyRequestsPage(error: RateLimited): Page {
  const { headers } = toErrorResponse(error);
  const text = 'Wait a moment, then reload this page.';
  return messagePage({ title: 'Too many requests', text, status: 429, headers });
}
