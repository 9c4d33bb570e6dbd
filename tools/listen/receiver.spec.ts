import { jest } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { formatLine, toReport } from './delivery-report.ts';
import { type PlannedResponse, type ReceivedRequest, openReceiver, type Receiver } from './receiver.ts';

const secret = 'whsec_test';
/** More than the five minutes by which a signature's time may differ. */
const beyondToleranceMs = 400_000;
const body = JSON.stringify({
  id: 'evt_test_1',
  api_version: '2026-11-01',
  created_at: '2026-11-21T09:30:00.000Z',
  event: 'order.created',
  data: { order_id: 'ord_test_1' },
});

function headers(signingSecret: string, atMs = Date.now()): Record<string, string> {
  const t = Math.floor(atMs / 1000);
  const v1 = createHmac('sha256', signingSecret).update(`${t}.${body}`).digest('hex');
  return {
    'x-service-signature': `t=${t},v1=${v1}`,
    'x-service-delivery': 'whd_1',
    'x-service-attempt': '2',
  };
}

describe('the receiver', () => {
  const requests: ReceivedRequest[] = [];
  let arrived: () => void = () => undefined;
  const receivers: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.stop();
    requests.splice(0);
  });

  async function open(planned: PlannedResponse = { status: 204, delayMs: 0 }, port = 0): Promise<Receiver> {
    const receiver = await openReceiver({
      secret,
      port,
      respond: (request) => {
        requests.push(request);
        arrived();
        return planned;
      },
    });
    receivers.push(receiver);
    return receiver;
  }
  const post = (url: string, signingSecret: string, atMs?: number) =>
    fetch(url, { method: 'POST', headers: headers(signingSecret, atMs), body });

  it('reports a verified delivery with its data', async () => {
    const { url } = await open();
    expect((await post(url, secret)).status).toBe(204);
    expect(requests.map((request) => toReport(request, 204))).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        event: 'order.created',
        id: 'evt_test_1',
        delivery: 'whd_1',
        attempt: 2,
        verified: true,
        refusal: null, // words: public member of the report
        test: true, // the id of the event begins with evt_test_
        answered: 204,
        data: { order_id: 'ord_test_1' },
      },
    ]);
  });

  it.each([
    ['wrong_signature', 'other', 0],
    ['too_old', secret, -beyondToleranceMs],
    ['too_new', secret, beyondToleranceMs],
  ])('reports a request as %s and uses nothing of its content', async (code, signingSecret, skewMs) => {
    const { url } = await open();
    await post(url, signingSecret, Date.now() + skewMs);
    const report = requests.map((request) => toReport(request, 204))[0];
    // words: `refusal` is a public member of the report
    expect(report).toMatchObject({ verified: false, refusal: code, event: null, id: null, data: null });
    expect(report === undefined ? '' : formatLine(report)).toContain(`NOT VERIFIED (${code})`);
  });

  it('responds with the planned status', async () => {
    const { url } = await open({ status: 503, delayMs: 0 });
    expect((await post(url, secret)).status).toBe(503);
  });

  it('responds with 500 and continues if its caller fails', async () => {
    const print = jest.spyOn(console, 'error').mockReturnValue();
    const receiver = await openReceiver({
      secret,
      port: 0,
      respond: () => {
        throw new Error('the caller failed');
      },
    });
    receivers.push(receiver);
    for (let attempt = 1; attempt <= 2; attempt++)
      expect((await post(receiver.url, secret)).status).toBe(500);
    expect(print).toHaveBeenCalledWith(expect.stringContaining('the caller failed'));
    print.mockRestore();
  });

  it('stops at once, even while a delayed response is pending', async () => {
    const { url, stop } = await open({ status: 204, delayMs: 600_000 });
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const outcome = post(url, secret).then(
      () => 'responded',
      () => 'connection closed',
    );
    await arrival;
    await stop();
    expect(await outcome).toBe('connection closed');
  });

  it('reports that another program uses its port', async () => {
    const { url } = await open();
    await expect(open(undefined, Number(new URL(url).port))).rejects.toThrow(/Another program uses port/);
  });
});

describe('the line of a delivery', () => {
  it('shows time, event, id, delivery, attempt, verification and response status', () => {
    const report = {
      at: '2026-11-21T09:30:00.123Z',
      event: 'order.created',
      id: 'evt_1',
      delivery: 'whd_1',
      attempt: 1,
      verified: true,
      refusal: null, // words: public member of the report
      test: false,
      answered: 204,
      data: {},
    };
    expect(formatLine(report).split(/ {2,}/)).toEqual([
      '09:30:00.123',
      'order.created',
      'evt_1',
      'whd_1',
      'attempt 1',
      'verified',
      'responded 204',
    ]);
  });

  it('contains no control characters of an unverified header', () => {
    const request = {
      at: new Date(),
      headers: { 'x-service-delivery': '\u001b[2J\u202e', 'x-service-attempt': 'NaN' },
      verification: { error: 'missing_signature' },
    } as const;
    const line = formatLine(toReport(request, 204));
    expect(line).not.toMatch(/\p{Cc}|\p{Cf}/u);
    expect(line).toContain('attempt -');
  });
});
