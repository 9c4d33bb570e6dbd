import { metrics } from '@fulfilment/runtime';
import { type RecordedSpans, recordSpans } from '@fulfilment/runtime/testing';
import { eventually } from '@fulfilment/testing';
import request from 'supertest';
import { freshAddress, type SmallApi, smallApi } from '../small-api.fixture.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Status codes of OpenTelemetry: `code` of a span's status. */
const [unset, failed] = [0, 2];
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describe('the span of a request', () => {
  let api: SmallApi;
  let recorded: RecordedSpans | undefined;
  beforeAll(async () => {
    api = await smallApi();
  });
  afterAll(() => api.stop());
  afterEach(() => recorded?.stop());

  const ended = (spans: RecordedSpans['spans']) =>
    eventually(() => (spans.length > 0 ? spans[0] : undefined));

  it("has its route and status and the client's trace, and no path or query", async () => {
    recorded = recordSpans();
    await request(api.url).get('/store/notes/open?secret=x').set('traceparent', traceparent).expect(200);
    expect(await ended(recorded.spans)).toMatchObject({
      name: 'GET /store/notes/open',
      parentSpanContext: { traceId, spanId: '00f067aa0ba902b7' },
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/store/notes/open',
        'http.response.status_code': 200,
      },
      status: { code: unset },
    });
    expect(JSON.stringify(recorded.spans)).not.toContain('secret');
  });

  it('has the id of the request as its trace if the client sends none', async () => {
    recorded = recordSpans();
    await request(api.url).get('/store/notes/open').set('x-request-id', traceId).expect(200);
    const span = await ended(recorded.spans);
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(span?.parentSpanContext).toBeUndefined();
  });

  it('has an error status for a 5xx, not for a 4xx', async () => {
    recorded = recordSpans();
    await request(api.url).get('/store/notes').set('x-forwarded-for', freshAddress()).expect(401);
    await request(api.url).get('/store/notes/broken').expect(500);
    const { spans } = recorded;
    await eventually(() => spans.length === 2);
    expect(spans).toMatchObject([
      { status: { code: unset }, attributes: { 'http.response.status_code': 401 } },
      { status: { code: failed }, attributes: { 'error.type': '500' } },
    ]);
  });

  it('is recorded at the configured ratio, also if the traceparent of the client is sampled', async () => {
    recorded = recordSpans({ isParentBased: true, ratio: 0 });
    const { spans } = recorded;
    await request(api.url).get('/store/notes/open').set('traceparent', traceparent).expect(200);
    await request(api.url).get('/store/notes/open').expect(200); // when it has ended, so has the first
    expect(spans).toEqual([]);
  });

  it('is not recorded for health checks', async () => {
    recorded = recordSpans();
    await request(api.url).get('/health/live').expect(200);
    await request(api.url).get('/store/health/live').expect(200);
    await request(api.url).get('/store/notes/open').expect(200);
    expect(await ended(recorded.spans)).toMatchObject({ name: 'GET /store/notes/open' });
  });

  it('is the exemplar of its duration', async () => {
    recorded = recordSpans();
    await request(api.url).get('/store/notes/open').set('traceparent', traceparent).expect(200);
    await ended(recorded.spans);
    const duration = await metrics.getSingleMetric('http_request_duration_seconds')?.get();
    expect(JSON.stringify(duration)).toContain(`"exemplar":{"labelSet":{"trace_id":"${traceId}"}`);
  });
});
