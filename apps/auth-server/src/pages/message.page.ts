import { type RateLimited, toErrorResponse } from '@fulfilment/error-envelope';
import { type Html, html } from '@fulfilment/http-service';
import { type Page, page } from './page.js';

/** A page with one message. @param code reference for support */
export function messagePage(message: {
  readonly title: string;
  readonly text: string;
  readonly status: number;
  readonly code?: string;
  readonly more?: Html;
  readonly headers?: Readonly<Record<string, string>>;
  readonly formTargets?: readonly string[];
}): Page {
  return page({
    title: message.title,
    status: message.status,
    ...(message.headers === undefined ? {} : { headers: message.headers }),
    ...(message.formTargets === undefined ? {} : { formTargets: message.formTargets }),
    content: html`<h1>${message.title}</h1>
      <p>${message.text}</p>
      ${message.more}
      ${message.code === undefined ? undefined : html`<p class="soft small">Reason: ${message.code}</p>`}`,
  });
}

export function unavailablePage(): Page {
  return messagePage({
    title: 'Sign-in is temporarily unavailable',
    text: 'Wait a few seconds, then reload this page.',
    status: 503,
    headers: { 'Retry-After': '2' },
  });
}

export function tooManyPage(error: RateLimited): Page {
  const { headers } = toErrorResponse(error);
  const text = 'Wait a moment, then reload this page.';
  return messagePage({ title: 'Too many requests', text, status: 429, headers });
}
