import express from 'express';

/** Creates the Express app with all settings: Nest's adapter creates the router, which reads them. */
export function createExpressApp() {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 1); // the gateway overwrites X-Forwarded-For
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  restrict304ToResponsesWithETag(app.request);
  return app;
}

/** Express would send 304 for `If-None-Match: *` also to responses without an ETag (RFC 9110 §13.1.2). */
function restrict304ToResponsesWithETag(request: express.Request): void {
  const isFresh = Reflect.getOwnPropertyDescriptor(express.request, 'fresh')?.get;
  Object.defineProperty(request, 'fresh', {
    configurable: true,
    get(this: express.Request): boolean {
      return this.res?.hasHeader('ETag') === true && isFresh?.call(this) === true;
    },
  });
}
