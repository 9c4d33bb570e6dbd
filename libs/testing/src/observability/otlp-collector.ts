import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listen } from '../listen.js';
import { type OtlpSpan, readOtlpSpans } from './otlp-spans.js';

export type OtlpCollector = Awaited<ReturnType<typeof otlpCollector>>;

/**
 * Starts a fake collector that stores the spans that it receives (OTLP over HTTP).
 * @param options.port a free one by default
 * @param options.respond ends the response; by default with 200
 */
export async function otlpCollector({
  port = 0,
  respond = (response: ServerResponse): unknown => response.end(),
} = {}) {
  const spans: OtlpSpan[] = [];
  let headers: IncomingHttpHeaders | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      ({ headers } = request);
      spans.push(...readOtlpSpans(Buffer.concat(chunks)));
      respond(response);
    });
  });
  const { port: bound, close } = await listen(server, port);
  return {
    url: `http://127.0.0.1:${bound}`,
    spans,
    /** The headers of the last request. */
    get headers() {
      return headers;
    },
    stop: close,
  };
}
