import { uuidv7 } from '@fulfilment/contracts';
import { type RecordedSpans, recordSpans } from '@fulfilment/runtime/testing';
import { eventually } from '@fulfilment/testing';
import { orderCreated, haveStatuses } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { anAttempt } from '../attempt.fixture.js';
import { PostWebhook } from './post-webhook.js';

const given = setUpWorker();
const traceId = 'a'.repeat(32);
const unrecordedId = 'c'.repeat(32);
/** Status codes of OpenTelemetry. */
const [unset, failed] = [0, 2];
const secretPath = '/hook?token=hunter2';

describe('the trace of an event', () => {
  let recorded: RecordedSpans;
  beforeEach(() => {
    recorded = recordSpans();
  });
  afterEach(() => recorded.stop());

  it('has a span without the URL for each attempt, whose id the receiver gets, and for the job of the retry', async () => {
    const client = await given.client();
    await client.subscribe(given.receiver.url.replace('/hook', secretPath), ['order.created']);
    let responses = 0;
    given.receiver.respondWith((response) => {
      responses += 1;
      response.writeHead(responses === 1 ? 500 : 204).end();
    });
    await given.publish({
      ...orderCreated(client.creatorId),
      traceparent: `00-${traceId}-${'b'.repeat(16)}-01`,
    });
    await given.deliveriesWhen(haveStatuses('succeeded'));
    const attempts = await eventually(() => {
      const spans = recorded.named('deliver order.created');
      return spans.length === 2 ? spans : undefined;
    });
    const [consumerSpan] = recorded.named('process order.created');
    const parent = { traceId, spanId: consumerSpan?.spanContext().spanId };
    expect(attempts).toMatchObject([
      {
        parentSpanContext: parent,
        status: { code: failed },
        attributes: { 'http.response.status_code': 500, 'error.type': 'http_error' },
      },
      {
        parentSpanContext: parent,
        status: { code: unset },
        attributes: { 'http.response.status_code': 204, 'http.request.resend_count': 1 },
      },
    ]);
    expect(given.receiver.deliveries.map(({ headers }) => headers['traceparent'])).toEqual(
      attempts.map((span) => `00-${traceId}-${span.spanContext().spanId}-01`),
    );
    await eventually(() =>
      recorded.spans.find(({ attributes }) => attributes['messaging.system'] === 'bullmq'),
    );
    expect(
      recorded.spans.filter(({ attributes }) => attributes['messaging.system'] === 'bullmq'),
    ).toMatchObject([{ parentSpanContext: parent }]);
    expect(JSON.stringify(recorded.spans)).not.toMatch(/hunter2|127\.0\.0\.1/);
  });

  it('has a failed span for an attempt whose secret cannot be opened', async () => {
    const { delivery } = anAttempt(uuidv7());
    const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`;
    const posting = given.worker.app.get(PostWebhook).run({ ...delivery, traceparent });
    await expect(posting).rejects.toThrow();
    expect(recorded.named('deliver order.created')).toMatchObject([{ status: { code: failed } }]);
  });

  it('stays unrecorded if it began unrecorded, and receivers get it marked as unsampled', async () => {
    const { client } = await given.subscriber(['order.created']);
    await given.publish({
      ...orderCreated(client.creatorId),
      traceparent: `00-${unrecordedId}-${'b'.repeat(16)}-00`,
    });
    const [delivery] = await given.receiver.waitFor(1);
    expect(delivery?.headers['traceparent']).toMatch(new RegExp(`^00-${unrecordedId}-[0-9a-f]{16}-00$`));
    expect(recorded.spans.filter((span) => span.spanContext().traceId === unrecordedId)).toEqual([]);
  });
});
