import { type Addresses, documentShape, withAddresses } from '@fulfilment/api-reference';
import { type Request, type Response, Router } from 'express';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { referencePage } from './page/reference-page.js';
import { styleHash } from './page/style.js';

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
 * Serves `/openapi.json` and `/docs` of an API, rendered once from the committed document with this suite's
 * addresses. They need no token, have no quota and do not depend on another service.
 * @param file the committed document
 */
export function referenceRoutes(file: string | URL, addresses: Addresses): Router {
  const document = withAddresses(documentShape.parse(JSON.parse(readFileSync(file, 'utf8'))), addresses);
  const router = Router({ caseSensitive: true, strict: true });
  router.get(
    '/openapi.json',
    rendered('application/json; charset=utf-8', JSON.stringify(document), documentHeaders),
  );
  router.get('/docs', rendered('text/html; charset=utf-8', referencePage(document), pageHeaders));
  return router;
}

/** A weak ETag, because the same page is sent plain and compressed. */
function rendered(type: string, body: string, headers: Readonly<Record<string, string>>) {
  const plain = Buffer.from(body);
  const zipped = gzipSync(plain);
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`;
  return (request: Request, response: Response): void => {
    response.set({ ...headers, 'Cache-Control': cacheControl, ETag: etag, Vary: 'Accept-Encoding' });
    // Express compares the ETag with If-None-Match (RFC 9110 §13.1.2).
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const small = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (small) response.set('Content-Encoding', 'gzip');
    response.type(type).send(small ? zipped : plain);
  };
}
