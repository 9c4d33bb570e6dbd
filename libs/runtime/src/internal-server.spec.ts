import { freePort } from '@fulfilment/testing';
import { startInternalServer } from './internal-server.js';
import { createLogger } from './logger.js';
import { Counter, TraceHistogram } from './metrics.js';
import { recordSpans } from './testing/record-spans.js';

/** Linux routes every address of 127.0.0.0/8 to this machine. */
const otherLocalAddress = '127.0.0.2';

/** What the server logged, as JSON lines. */
const logged: string[] = [];
const logger = createLogger('test', 'info', { write: (line) => logged.push(line) });

const statusAt = async (host: string, port: number): Promise<number | undefined> =>
  fetch(`http://${host}:${port}/metrics`).then(
    ({ status }) => status,
    () => undefined,
  );

describe('the internal server', () => {
  it('listens only on the given address', async () => {
    const port = await freePort();
    const server = await startInternalServer({ host: '127.0.0.1', port, logger });
    try {
      expect(await statusAt('127.0.0.1', port)).toBe(200);
      expect(await statusAt(otherLocalAddress, port)).toBeUndefined();
    } finally {
      await server.close();
    }
  });

  it('serves exemplars to requests for OpenMetrics while it is tracing, and the classic format otherwise', async () => {
    const counter = new Counter({ name: 'test_things_total', help: 'Things.' });
    counter.inc();
    const histogram = new TraceHistogram({ name: 'test_seconds', help: 'Times.', buckets: [1, 2] });
    const traceId = 'a'.repeat(32);
    histogram.observeIn({ traceId }, {}, 1.5);
    histogram.observeIn(undefined, {}, 0.5);
    const recorded = recordSpans();
    const port = await freePort();
    const server = await startInternalServer({ host: '127.0.0.1', port, logger });
    try {
      const metrics = async (accept: string): Promise<string> =>
        (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })).text();
      const classicBefore = await metrics('*/*');
      const open = await metrics('application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
      const exemplar = `# {trace_id="${traceId}"} 1.5 `;
      expect(open).toContain(`test_seconds_bucket{le="2"} 2 ${exemplar}`);
      expect(open).toContain('test_seconds_bucket{le="1"} 1\n');
      expect(open).toMatch(/# TYPE test_things counter\ntest_things_total 1\n/);
      expect(open.endsWith('# EOF\n')).toBe(true);
      expect(classicBefore).toMatch(/# TYPE test_things_total counter\ntest_things_total 1\n/);
      expect(await metrics('*/*')).toBe(classicBefore);
      recorded.stop();
      expect(await metrics('application/openmetrics-text')).toBe(classicBefore);
    } finally {
      await server.close();
    }
  });

  it('ignores the query of a path', async () => {
    const port = await freePort();
    const routes = [(path: string) => Promise.resolve(path === '/messages/1' ? { id: 1 } : undefined)];
    const server = await startInternalServer({ host: '127.0.0.1', port, logger, routes });
    try {
      for (const path of ['/metrics?name[]=up', '/messages/1?x=1'])
        expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
    } finally {
      await server.close();
    }
  });

  it('logs the cause and responds with 503 when the body of a route has no JSON form, and serves the next request', async () => {
    const port = await freePort();
    const routes = [(path: string) => Promise.resolve(path === '/big' ? { id: 1n } : undefined)];
    const server = await startInternalServer({ host: '127.0.0.1', port, logger, routes });
    try {
      expect((await fetch(`http://127.0.0.1:${port}/big`)).status).toBe(503);
      expect(logged.join()).toContain('Do not know how to serialize a BigInt');
      expect(await statusAt('127.0.0.1', port)).toBe(200);
    } finally {
      await server.close();
    }
  });

  it('listens on every IPv4 address when the host is 0.0.0.0', async () => {
    const port = await freePort();
    const server = await startInternalServer({ host: '0.0.0.0', port, logger });
    try {
      expect(await statusAt(otherLocalAddress, port)).toBe(200);
    } finally {
      await server.close();
    }
  });
});
