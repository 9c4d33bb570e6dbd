import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { BackgroundLoop, Gauge, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { UnreadableRates } from './ecb-rates.rules.js';
import { storeRates } from './load-rates.js';

const pollIntervalMs = 60_000;
const retryDelayMs = 5 * 60_000;
const fetchTimeoutMs = 30_000;
/** Enough for the file of the last 90 days. */
const maxBytes = 2 * 1024 * 1024;

const newestAge = new Gauge({
  name: 'exchange_rates_newest_age_seconds',
  help: 'Time since the start of the day of the newest exchange rate; infinite if none was fetched yet; 0 without rates and without EXCHANGE_RATES_URL. Above six days, rates of the ECB are missing.',
});

const readNewestAge = statement(
  'rates.measure',
  `SELECT extract(epoch FROM now() - rate_date::timestamp AT TIME ZONE 'UTC')::float8 AS seconds
   FROM exchange_rates WHERE currency = 'EUR' ORDER BY rate_date DESC LIMIT 1`,
);
// The replica whose UPDATE changes the row fetches the rates. If that fails, or the process dies, the next
// fetch is due after $1 ms.
const claimFetch = statement(
  'rates.claim',
  `UPDATE exchange_rate_source SET next_fetch_at = now() + make_interval(secs => $1::float8 / 1000)
   WHERE next_fetch_at <= now()`,
);
const scheduleNext = statement(
  'rates.schedule-next',
  'UPDATE exchange_rate_source SET next_fetch_at = now() + make_interval(secs => $1::float8 / 1000)',
);

type RateSettings = Pick<CreatorApiSettings, 'EXCHANGE_RATES_URL' | 'EXCHANGE_RATES_INTERVAL_MS'>;

/**
 * Reports the age of the newest rate as a metric. If `EXCHANGE_RATES_URL` is set, fetches rates, in one
 * replica at a time (ADR 11).
 */
@Injectable()
export class ExchangeRatesJob extends BackgroundLoop {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(CONFIG) private readonly config: RateSettings,
    private readonly client: GuardedClient,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LedgerPosting) private readonly posting: Pick<LedgerPosting, 'scheduleAll'>,
  ) {
    super({ name: 'exchange-rates', intervalMs: pollIntervalMs, logger, round: () => this.round() });
  }

  /** Aborts a fetch, which may take longer than the shutdown of a service. */
  override async stop(): Promise<void> {
    this.stopping.abort();
    await super.stop();
  }

  private async round(): Promise<void> {
    if (await this.fetchDueRates()) this.posting.scheduleAll();
    const newest = await this.database.row<{ seconds: number }>(readNewestAge);
    const ageWithoutRates = this.config.EXCHANGE_RATES_URL === undefined ? 0 : Infinity;
    newestAge.set(newest?.seconds ?? ageWithoutRates);
  }

  /** Fetches the rates if they are due, in one replica at a time. Returns whether rates were stored. */
  async fetchDueRates(): Promise<boolean> {
    const { EXCHANGE_RATES_URL: url, EXCHANGE_RATES_INTERVAL_MS: intervalMs } = this.config;
    if (url === undefined || (await this.database.run(claimFetch, [retryDelayMs])) === 0) return false;
    const fetched = await download(this.client, url, this.stopping.signal);
    if ('problem' in fetched) {
      this.logger.warn(fetched, 'Exchange rates could not be fetched; will retry.');
      return false;
    }
    try {
      const { last_day } = await storeRates(this.database, fetched.text);
      this.logger.info({ last_day }, 'Fetched and stored exchange rates.');
    } catch (error) {
      if (!(error instanceof UnreadableRates)) throw error;
      const problem = error.message;
      this.logger.warn({ problem }, 'The fetched exchange rates could not be parsed; will retry.');
      return false;
    }
    await this.database.run(scheduleNext, [intervalMs]);
    return true;
  }
}

type DownloadResult =
  { readonly text: string } | { readonly problem: string; readonly status?: number | undefined };

async function download(client: GuardedClient, url: string, signal: AbortSignal): Promise<DownloadResult> {
  const problem = await client.findAddressProblem(url);
  if (problem !== undefined) return { problem: `EXCHANGE_RATES_URL ${problem}` };
  const exchange = await client.send({
    method: 'GET',
    url,
    headers: { accept: 'application/xml, text/csv;q=0.9, */*;q=0.1', 'user-agent': 'Exchange-Rates/1' },
    deadlineMs: fetchTimeoutMs,
    bodyTimeoutMs: fetchTimeoutMs,
    maxReadBytes: maxBytes,
    maxKeptBytes: maxBytes,
    signal,
  });
  const { outcome, statusCode: status } = exchange;
  if (outcome !== 'succeeded') return { problem: outcome, status };
  if (status !== 200) return { problem: 'unexpected_status', status };
  if (exchange.truncated) return { problem: exchange.abortReason ?? 'incomplete', status };
  return { text: exchange.body.toString('utf8') };
}
