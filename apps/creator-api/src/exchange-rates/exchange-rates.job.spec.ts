import { type Database, statement } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { createLogger } from '@fulfilment/runtime';
import { listen } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { migrations } from '../migrations/index.js';
import { ExchangeRatesJob } from './exchange-rates.job.js';

const xml = `<?xml version="1.0"?><Cube><Cube time='2026-11-20'><Cube currency='USD' rate='1.0423'/>
  <Cube currency='GBP' rate='0.8345'/></Cube></Cube>`;
const readRates = statement(
  'test.rates',
  'SELECT currency, per_euro::text FROM exchange_rates ORDER BY currency',
);
const makeDue = statement('test.make-due', `UPDATE exchange_rate_source SET next_fetch_at = '-infinity'`);
const readDelay = statement(
  'test.read-delay',
  'SELECT extract(epoch FROM next_fetch_at - now())::float8 AS seconds FROM exchange_rate_source',
);
const deleteRates = statement('test.delete-rates', 'TRUNCATE exchange_rates');

describe('exchange rates from a URL', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let source: { url: string; requests: number; respond: RequestListener; stop: () => Promise<void> };
  const client = new GuardedClient({ allowLoopback: true });
  const silent = createLogger('test', 'fatal');

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    const server = createServer((request, response) => {
      source.requests += 1;
      source.respond(request, response);
    });
    const { port, close } = await listen(server);
    source = {
      url: `http://127.0.0.1:${port}/eurofxref-hist-90d.xml`,
      requests: 0,
      respond: () => undefined,
      stop: close,
    };
  });
  afterAll(async () => {
    await client.close();
    await source.stop();
    await scratch.drop();
  });
  beforeEach(async () => {
    await database.run(deleteRates);
    await database.run(makeDue);
    source.requests = 0;
    source.respond = (_request, response: ServerResponse) => response.end(xml);
  });

  const settings = (url: string | undefined) => ({
    EXCHANGE_RATES_URL: url,
    EXCHANGE_RATES_INTERVAL_MS: 3_600_000,
  });
  const fetchNow = ({ logger = silent, guardedClient = client, config = settings(source.url) } = {}) =>
    new ExchangeRatesJob(database, config, guardedClient, logger, {
      scheduleAll: () => undefined,
    }).fetchDueRates();
  const secondsUntilDue = async () => (await database.row<{ seconds: number }>(readDelay))?.seconds ?? NaN;

  it('are fetched and stored when they are due, and due again after the interval of the setting', async () => {
    expect(await fetchNow()).toBe(true);
    expect(await database.rows(readRates)).toEqual([
      { currency: 'EUR', per_euro: '1' },
      { currency: 'GBP', per_euro: '0.8345' },
      { currency: 'USD', per_euro: '1.0423' },
    ]);
    expect(await fetchNow()).toBe(false);
    expect(await secondsUntilDue()).toBeGreaterThan(3_000); // 3600, less the time since the fetch
    await database.run(makeDue);
    expect(await fetchNow()).toBe(true);
    expect(source.requests).toBe(2);
  });

  it('are fetched by one replica at a time', async () => {
    const fetched = await Promise.all([1, 2, 3, 4].map(() => fetchNow()));
    expect(fetched.filter(Boolean)).toEqual([true]);
    expect(source.requests).toBe(1);
  });

  it.each<[string, RequestListener]>([
    ['a status other than 200', (_request, response) => response.writeHead(503).end(xml)],
    ['a redirect', (_request, response) => response.writeHead(302, { location: 'https://127.0.0.1/' }).end()],
    ['no rates', (_request, response) => response.end('<html>Maintenance</html>')],
    ['a damaged rate', (_request, response) => response.end(xml.replace('1.0423', '-1'))],
    ['more than 2 MiB', (_request, response) => response.end(xml + ' '.repeat(2 * 1024 * 1024))],
    [
      'half a file',
      (_request, response) => {
        response.writeHead(200, { 'content-length': String(xml.length) });
        response.write(xml.slice(0, 100), () => response.destroy());
      },
    ],
  ])(
    'are not stored when the source sends %s, and are due again within 5 minutes',
    async (_what, respond) => {
      source.respond = respond;
      expect(await fetchNow()).toBe(false);
      expect(await database.rows(readRates)).toEqual([]);
      expect(await secondsUntilDue()).toBeLessThanOrEqual(300);
    },
  );

  it('cause a warning with the status when the source responds with a 2xx status other than 200', async () => {
    const lines: string[] = [];
    const capturing = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
    source.respond = (_request, response) => response.writeHead(204).end();
    expect(await fetchNow({ logger: capturing })).toBe(false);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { problem: 'unexpected_status', status: 204 },
    ]);
  });

  it('are not fetched from a loopback address unless the client allows it', async () => {
    const strict = new GuardedClient({ allowLoopback: false });
    expect(await fetchNow({ guardedClient: strict })).toBe(false);
    expect(source.requests).toBe(0);
    await strict.close();
  });

  it.each(['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '[fd00::1]'])(
    'are not fetched from %s, which is not a public address',
    async (host) => {
      const send = jest.spyOn(client, 'send');
      try {
        expect(await fetchNow({ config: settings(`http://${host}/rates.xml`) })).toBe(false);
        expect(send).not.toHaveBeenCalled();
      } finally {
        send.mockRestore();
      }
    },
  );

  it('must arrive within 30 s', async () => {
    const send = jest.spyOn(client, 'send');
    try {
      expect(await fetchNow()).toBe(true);
      expect(send.mock.calls).toMatchObject([[{ deadlineMs: 30_000 }]]);
    } finally {
      send.mockRestore();
    }
  });

  it('are not fetched without the setting, and stay due', async () => {
    expect(await fetchNow({ config: settings(undefined) })).toBe(false);
    expect(await fetchNow()).toBe(true);
  });

  it(
    'do not delay the stop of the service while the source does not respond',
    async () => {
      const requested = new Promise<void>((resolve) => {
        source.respond = () => resolve();
      });
      const job = new ExchangeRatesJob(database, settings(source.url), client, silent, {
        scheduleAll: () => undefined,
      });
      job.start();
      await requested;
      await job.stop();
    },
    15_000, // half the time limit of a fetch
  );

  it('cause all waiting orders to be scheduled when they are stored', async () => {
    const scheduled = new Promise<void>((resolve) => {
      const scheduleAll = (): void => {
        void job.stop();
        resolve();
      };
      const job = new ExchangeRatesJob(database, settings(source.url), client, silent, { scheduleAll });
      job.start();
    });
    await scheduled;
    expect(await database.rows(readRates)).toHaveLength(3);
  });
});
