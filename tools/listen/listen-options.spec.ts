import { webhookEvents } from '@fulfilment/contracts';
import { Failure } from '../dev/failure.ts';
import { readListenOptions, responseStatus } from './listen-options.ts';

describe('the options of listen', () => {
  it('default to every event, the demo account and the status 204', () => {
    expect(readListenOptions([])).toEqual({
      events: webhookEvents,
      json: false,
      port: 0,
      secret: undefined,
      email: 'owner@harbour.example',
      password: undefined,
      token: undefined,
      behaviour: { failures: undefined, status: 204, delayMs: 0 },
    });
  });

  it.each([
    ['--events order.created,order.shipped'],
    ['--events order.created --events order.shipped'],
    ['--events=order.created,order.shipped'],
  ])('read two events from %s', (line) => {
    expect(readListenOptions(line.split(' '))?.events).toEqual(['order.created', 'order.shipped']);
  });

  it.each([
    ['--events order.eaten', /Unknown event "order\.eaten".*order\.created/],
    ['--events=', /Unknown event ""/],
    ['--port 65536', /--port must be a whole number from 0 to 65535/],
    ['--status 199', /--status must be a whole number from 200 to 599/],
    ['--fail -1', /'--fail' argument is ambiguous/],
    ['--fail=-1', /--fail must be a whole number/],
    ['--delay 1.5', /--delay must be a whole number/],
    ['--secret=', /--secret must not be empty/],
  ])('reject %s', (line, message) => {
    expect(() => readListenOptions(line.split(' '))).toThrow(message);
  });

  it('are rejected with a Failure, which is printed without a stack trace', () => {
    expect(() => readListenOptions(['--events', 'x'])).toThrow(Failure);
  });

  it('are undefined when help is requested', () => {
    expect(readListenOptions(['--help'])).toBeUndefined();
    expect(readListenOptions(['-h'])).toBeUndefined();
  });
});

describe('a receiver with planned failures', () => {
  const statuses = (line: string) => {
    const behaviour = readListenOptions(line.split(' '))?.behaviour;
    if (behaviour === undefined) throw new Error('no options');
    return [1, 2, 3, 4].map((count) => responseStatus(count, behaviour));
  };

  it.each([
    ['--fail 2', [500, 500, 204, 204]],
    ['--fail 2 --status 429', [429, 429, 204, 204]],
    ['--status 410', [410, 410, 410, 410]],
    ['--fail 0', [204, 204, 204, 204]],
  ])('responds for %s with the statuses %j', (line, expected) => {
    expect(statuses(line)).toEqual(expected);
  });
});
