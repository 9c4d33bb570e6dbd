import { type Addresses, localAddresses } from '@fulfilment/api-reference';
import { issuer } from '@fulfilment/contracts';
import { type Request, type Response, Router } from 'express';
import { marked } from 'marked';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { entityTagOf } from '../responses/entity-tag.js';
import { style } from './style.js';

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
const pageHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src ${styleHash}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
const documentHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Request-Id',
};
const cacheControl = 'public, max-age=300';

/**
 * Returns the routes `/openapi.json` and `/docs` of an API, which serve the committed files with this suite's
 * addresses. These routes need no token, have no quota and do not depend on another service.
 */
export function referenceRoutes(api: string, title: string, addresses: Addresses): Router {
  const read = (extension: string): string => {
    const file = new URL(`../../../../docs/reference/${api}.${extension}`, import.meta.url);
    return replaceAddresses(readFileSync(file, 'utf8'), addresses);
  };
  const document = read('openapi.json');
  const markdown = read('md');
  const renderPage = (): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} reference</title>
<style>${style}</style>
</head>
<body>
${marked.parse(markdown, { async: false })}
</body>
</html>`;
  const router = Router({ caseSensitive: true, strict: true });
  router.get(
    '/openapi.json',
    textHandler('application/json; charset=utf-8', () => document, documentHeaders),
  );
  router.get('/docs', textHandler('text/html; charset=utf-8', renderPage, pageHeaders));
  return router;
}

/** Replaces the local addresses of a committed file by those of the suite that serves it. */
function replaceAddresses(text: string, { baseUrl, authUrl }: Addresses): string {
  return text
    .replaceAll(`${issuer(localAddresses.authUrl)}/`, `${issuer(authUrl)}/`)
    .replaceAll(localAddresses.baseUrl, baseUrl);
}

/**
 * Returns a handler that sends a text. The text is rendered at the first request, so that the start of the
 * service does not wait for it (up to 0.2 s). The ETag is weak, because it is the same with and without gzip.
 */
function textHandler(type: string, render: () => string, headers: Readonly<Record<string, string>>) {
  const prepare = () => {
    const text = render();
    const plain = Buffer.from(text);
    return { plain, zipped: gzipSync(plain), etag: `W/${entityTagOf(text)}` };
  };
  let prepared: ReturnType<typeof prepare> | undefined;
  return (request: Request, response: Response): void => {
    prepared ??= prepare();
    const { plain, zipped, etag } = prepared;
    response.set({ ...headers, 'Cache-Control': cacheControl, ETag: etag, Vary: 'Accept-Encoding' });
    // Express compares the ETag with If-None-Match (RFC 9110 §13.1.2).
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const acceptsGzip = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (acceptsGzip) response.set('Content-Encoding', 'gzip');
    response.type(type).send(acceptsGzip ? zipped : plain);
  };
}
