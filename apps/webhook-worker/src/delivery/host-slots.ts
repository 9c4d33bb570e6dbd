import { Database, statement } from '@fulfilment/database';
import { hostAndPort } from '@fulfilment/guarded-fetch';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../config.js';
import { deliveriesAtATime, type Lane, lanes } from './lanes.rules.js';
import { type DueSubscription, WakeUps } from './wake-ups.js';

const mostRemembered = 50_000;

const findUrl = statement('host-slots.url', 'SELECT url FROM webhook_subscriptions WHERE id = $1');

/** A host never has more than this many times its limit under way. */
const mostTimesLimit = 5;

/** What one host has under way in one lane. */
interface HostLane {
  readonly limit: number;
  taken: number;
  /** How much of it, by subscription. */
  readonly by: Map<string, number>;
  /** Those that found no room, in the order they came. */
  readonly waiting: Map<string, DueSubscription>;
}

/** Room for some attempts at a host, one each. */
export interface Slots {
  readonly count: number;
  /** Gives back so many that are not wanted any more. */
  free(count: number): void;
}

/**
 * How many attempts this process has under way to one receiving host (`host:port`), over all subscriptions: many subscriptions of many
 * creators with one target must not become a flood for it, nor may its slowness take the slots of everybody else. A subscription
 * that finds no room holds nothing while it waits, and is woken when there is some. In the fast lane one with nothing under way gets room for one though
 * the host is full: those it shares the host with may be dead.
 */
@Injectable()
export class HostSlots {
  private readonly limits: Readonly<Record<Lane, number>>;
  private readonly hostLanes = new Map<string, HostLane>();
  private readonly hosts = new Map<string, string>();

  constructor(
    @Inject(DELIVERY_DATABASE) private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) config: WebhookWorkerSettings,
  ) {
    // In the slow lane a host gets a quarter of the room, so that the lane's other hosts go on.
    const limit = config.WEBHOOK_HOST_CONCURRENCY;
    this.limits = { fast: limit, slow: Math.ceil(limit / 4) };
  }

  /** Takes up to so many; undefined when there is no room now: then the subscription is woken when there is. */
  async take(due: DueSubscription, most: number): Promise<Slots | undefined> {
    const { subscriptionId, lane } = due;
    const host = this.hosts.get(subscriptionId) ?? (await this.ask(subscriptionId));
    const key = `${lane} ${host}`;
    const hostLane = this.hostLanes.get(key) ?? this.newHostLane(lane);
    this.hostLanes.set(key, hostLane);
    const count = Math.min(most, roomFor(subscriptionId, lane, hostLane));
    if (count <= 0) {
      hostLane.waiting.set(subscriptionId, { subscriptionId, lane }); // without the days: for all that is due by then
      return undefined;
    }
    hostLane.waiting.delete(subscriptionId);
    hostLane.taken += count;
    hostLane.by.set(subscriptionId, (hostLane.by.get(subscriptionId) ?? 0) + count);
    return { count, free: (freed) => this.free(key, hostLane, subscriptionId, freed) };
  }

  /** Remembers where the deliveries of a subscription go, as was just read. */
  learn(subscriptionId: string, url: string): void {
    const oldest = this.hosts.keys().next().value;
    if (this.hosts.size >= mostRemembered && oldest !== undefined) this.hosts.delete(oldest);
    this.hosts.set(subscriptionId, hostAndPort(new URL(url)));
  }

  /** Whether a subscription has something due that only waits for its host. */
  isWaiting(subscriptionId: string): boolean {
    const host = this.hosts.get(subscriptionId);
    return lanes.some((lane) => this.hostLanes.get(`${lane} ${host}`)?.waiting.has(subscriptionId) ?? false);
  }

  private async ask(subscriptionId: string): Promise<string | undefined> {
    const row = await this.database.row<{ url: string }>(findUrl, [subscriptionId]);
    if (row !== undefined) this.learn(subscriptionId, row.url);
    return this.hosts.get(subscriptionId);
  }

  private newHostLane(lane: Lane): HostLane {
    return { limit: this.limits[lane], taken: 0, by: new Map(), waiting: new Map() };
  }

  private free(key: string, hostLane: HostLane, subscriptionId: string, count: number): void {
    if (count === 0) return;
    hostLane.taken -= count;
    const left = (hostLane.by.get(subscriptionId) ?? 0) - count;
    if (left > 0) hostLane.by.set(subscriptionId, left);
    else hostLane.by.delete(subscriptionId);
    if (hostLane.taken === 0 && hostLane.waiting.size === 0) this.hostLanes.delete(key);
    // The next is woken when there is room for as many as it may take, so that a full host does not go on one by one.
    const worthwhile = Math.min(deliveriesAtATime.healthy, hostLane.limit);
    const next = hostLane.waiting.values().next().value;
    if (next === undefined || hostLane.limit - hostLane.taken < worthwhile) return;
    hostLane.waiting.delete(next.subscriptionId);
    this.wakeUps.wake([next]);
  }
}

function roomFor(subscriptionId: string, lane: Lane, hostLane: HostLane): number {
  const room = hostLane.limit - hostLane.taken;
  const owed =
    lane === 'fast' && !hostLane.by.has(subscriptionId) && hostLane.taken < mostTimesLimit * hostLane.limit;
  return owed ? Math.max(room, 1) : room;
}
