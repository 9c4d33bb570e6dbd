import { Database, statement } from '@fulfilment/database';
import { hostAndPort } from '@fulfilment/guarded-fetch';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { deliveriesAtATime, type Lane, lanes } from './lanes.rules.js';
import { type Sleeper, WakeUps } from './wake-ups.js';

const mostRemembered = 50_000;

const findUrl = statement('host-slots.url', 'SELECT url FROM webhook_subscriptions WHERE id = $1');

/** Of the limit: however many subscriptions name a host, no more are under way to it. */
const mostOfLimit = 5;

/** What one host has under way in one lane. */
interface Line {
  readonly limit: number;
  taken: number;
  /** By subscription. */
  readonly by: Map<string, number>;
  /** Whose turn comes when there is room, in the order they came. */
  readonly waiting: Map<string, Sleeper>;
}

/** Room for some attempts at a host. */
export interface Slots {
  readonly count: number;
  /** Gives room back that is not wanted any more. */
  free(count: number): void;
}

/**
 * How many attempts this process has under way to one receiving host (`host:port`), over all subscriptions: many subscriptions of many
 * creators with one target must not become a flood for it, nor may its slowness take the slots of everybody else. Whoever finds no room
 * leaves, holding nothing, and is woken when there is some. In the fast lane a subscription with nothing under way gets room for one, though the
 * host be full: what it shares a host with may be dead.
 */
@Injectable()
export class HostSlots {
  private readonly limits: Readonly<Record<Lane, number>>;
  private readonly lines = new Map<string, Line>();
  private readonly hosts = new Map<string, string>();

  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) config: WebhookWorkerSettings,
  ) {
    // A host that fails or is slow gets a part of the slow lane, so that the others there go on.
    const limit = config.WEBHOOK_HOST_CONCURRENCY;
    this.limits = { fast: limit, slow: Math.ceil(limit / 4) };
  }

  /** Takes up to so many; undefined when there is no room now. */
  async take(sleeper: Sleeper, most: number): Promise<Slots | undefined> {
    const { subscriptionId, lane } = sleeper;
    const host = this.hosts.get(subscriptionId) ?? (await this.ask(subscriptionId));
    const key = `${lane} ${host}`;
    const line = this.lines.get(key) ?? this.newLine(lane);
    this.lines.set(key, line);
    const count = Math.min(most, roomFor(subscriptionId, lane, line));
    if (count <= 0) {
      line.waiting.set(subscriptionId, { subscriptionId, lane }); // for all that is due by then
      return undefined;
    }
    line.waiting.delete(subscriptionId);
    line.taken += count;
    line.by.set(subscriptionId, (line.by.get(subscriptionId) ?? 0) + count);
    return { count, free: (freed) => this.free(key, line, subscriptionId, freed) };
  }

  /** Where the deliveries of a subscription go, as was just read. */
  learn(subscriptionId: string, url: string): void {
    const oldest = this.hosts.keys().next().value;
    if (this.hosts.size >= mostRemembered && oldest !== undefined) this.hosts.delete(oldest);
    this.hosts.set(subscriptionId, hostAndPort(new URL(url)));
  }

  /** Whether a subscription has something due that only waits for its host. */
  isWaiting(subscriptionId: string): boolean {
    const host = this.hosts.get(subscriptionId);
    return lanes.some((lane) => this.lines.get(`${lane} ${host}`)?.waiting.has(subscriptionId) ?? false);
  }

  private async ask(subscriptionId: string): Promise<string | undefined> {
    const row = await this.database.row<{ url: string }>(findUrl, [subscriptionId]);
    if (row !== undefined) this.learn(subscriptionId, row.url);
    return this.hosts.get(subscriptionId);
  }

  private newLine(lane: Lane): Line {
    return { limit: this.limits[lane], taken: 0, by: new Map(), waiting: new Map() };
  }

  private free(key: string, line: Line, subscriptionId: string, count: number): void {
    if (count === 0) return;
    line.taken -= count;
    const left = (line.by.get(subscriptionId) ?? 0) - count;
    if (left > 0) line.by.set(subscriptionId, left);
    else line.by.delete(subscriptionId);
    if (line.taken === 0 && line.waiting.size === 0) this.lines.delete(key);
    // The next comes when there is room for as many as one takes, so that full lines do not go on one by one.
    const worthwhile = Math.min(deliveriesAtATime.healthy, line.limit);
    const next = line.waiting.values().next().value;
    if (next === undefined || line.limit - line.taken < worthwhile) return;
    line.waiting.delete(next.subscriptionId);
    this.wakeUps.wake([next]);
  }
}

function roomFor(subscriptionId: string, lane: Lane, line: Line): number {
  const room = line.limit - line.taken;
  const owed = lane === 'fast' && !line.by.has(subscriptionId) && line.taken < mostOfLimit * line.limit;
  return owed ? Math.max(room, 1) : room;
}
