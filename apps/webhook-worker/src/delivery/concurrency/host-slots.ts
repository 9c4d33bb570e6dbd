import { Database, statement } from '@fulfilment/database';
import { hostAndPort } from '@fulfilment/guarded-fetch';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../../config.js';
import { setNewest } from '../../set-newest.js';
import type { Slots } from './attempt-slots.js';
import { type Lane, lanes } from '../../dispatch-queue/lanes.rules.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../../dispatch-queue/lane-queue.js';
import { countWithinInitialWindow, windowSizes } from './window.rules.js';

/** Bounds the memory: beyond it, the oldest entry is deleted, and that host is read from PostgreSQL again. */
const maxRememberedHosts = 50_000;

const findUrl = statement('host-slots.url', 'SELECT url FROM webhook_subscriptions WHERE id = $1');

/** Guaranteed slots are given until the attempts at a host reach this multiple of its limit. */
const maxLimitFactor = 5;

/** Running attempts at one host in one lane. */
interface HostLane {
  readonly key: string;
  readonly lane: Lane;
  readonly limit: number;
  taken: number;
  readonly takenBySubscription: Map<string, number>;
  /** Subscriptions that got no slot, in order of arrival. */
  readonly waiting: Map<string, DueSubscription>;
}

/**
 * Limits the concurrent attempts of this process at one receiving host (`host:port`), over all subscriptions.
 * Many subscriptions must not flood one host, and a slow host must not use up the attempts of its lane. A
 * subscription that gets no slot holds nothing while it waits, and is queued when slots are free.
 * In the fast lane, a subscription without running attempts gets one guaranteed slot even if the host is
 * full, since the host may not respond to the other subscriptions.
 */
@Injectable()
export class HostSlots {
  private readonly limits: Readonly<Record<Lane, number>>;
  /** By lane and host; deleted when no attempt runs and no subscription waits. */
  private readonly hostLanes = new Map<string, HostLane>();
  /** Hosts by the id of the subscription. */
  private readonly hosts = new Map<string, string>();

  constructor(
    @Inject(DELIVERY_DATABASE) private readonly database: Database,
    private readonly queue: DispatchQueue,
    @Inject(CONFIG) config: WebhookWorkerSettings,
  ) {
    // In the slow lane a host gets a quarter of the limit, so that other hosts of the lane proceed.
    const limit = config.WEBHOOK_HOST_CONCURRENCY;
    this.limits = { fast: limit, slow: Math.ceil(limit / 4) };
  }

  /**
   * Takes up to `maxCount` slots. If none is free, returns undefined, and queues the subscription as soon as
   * a batch of slots is.
   */
  async take(due: DueSubscription, maxCount: number): Promise<Slots | undefined> {
    const { subscriptionId, lane } = due;
    // Undefined if the subscription was deleted: then its claim finds nothing.
    const host = this.hosts.get(subscriptionId) ?? (await this.readHost(subscriptionId));
    const key = `${lane} ${host}`;
    const hostLane: HostLane = this.hostLanes.get(key) ?? {
      key,
      lane,
      limit: this.limits[lane],
      taken: 0,
      takenBySubscription: new Map(),
      waiting: new Map(),
    };
    this.hostLanes.set(key, hostLane);
    const count = countSlots(hostLane, subscriptionId, maxCount);
    if (count === 0) {
      // Without `days`, the next claim searches every day: more may have become due.
      hostLane.waiting.set(subscriptionId, { subscriptionId, lane });
      return undefined;
    }
    hostLane.waiting.delete(subscriptionId);
    hostLane.taken += count;
    hostLane.takenBySubscription.set(
      subscriptionId,
      (hostLane.takenBySubscription.get(subscriptionId) ?? 0) + count,
    );
    return { count, free: (freed) => this.free(hostLane, subscriptionId, freed) };
  }

  /** Caches the host of a subscription from a URL that was just read. */
  rememberHost(subscriptionId: string, url: string): void {
    setNewest(this.hosts, subscriptionId, hostAndPort(new URL(url)), maxRememberedHosts);
  }

  /** Whether a subscription with due deliveries waits for host slots. */
  isWaiting(subscriptionId: string): boolean {
    const host = this.hosts.get(subscriptionId);
    return lanes.some((lane) => this.hostLanes.get(`${lane} ${host}`)?.waiting.has(subscriptionId) ?? false);
  }

  private async readHost(subscriptionId: string): Promise<string | undefined> {
    const row = await this.database.row<{ url: string }>(findUrl, [subscriptionId]);
    if (row !== undefined) this.rememberHost(subscriptionId, row.url);
    return this.hosts.get(subscriptionId);
  }

  private free(hostLane: HostLane, subscriptionId: string, count: number): void {
    if (count === 0) return;
    hostLane.taken -= count;
    const remaining = (hostLane.takenBySubscription.get(subscriptionId) ?? 0) - count;
    if (remaining > 0) hostLane.takenBySubscription.set(subscriptionId, remaining);
    else hostLane.takenBySubscription.delete(subscriptionId);
    // Waits until a whole batch of slots is free: otherwise a full host would get batches of one delivery.
    const batch = Math.min(windowSizes.initial, hostLane.limit);
    const next = hostLane.waiting.values().next().value;
    if (next !== undefined && hostLane.limit - hostLane.taken >= batch) {
      hostLane.waiting.delete(next.subscriptionId);
      this.queue.requeue([next]); // another process may take it, so it no longer waits here
    }
    if (hostLane.taken === 0 && hostLane.waiting.size === 0) this.hostLanes.delete(hostLane.key);
  }
}

/**
 * Returns how many slots a subscription gets now. Beyond the initial window, it gets at most half of the
 * slots that the others leave, and none while others wait: a large window must not take the host from its
 * other subscriptions.
 */
function countSlots(hostLane: HostLane, subscriptionId: string, maxCount: number): number {
  const free = countFreeSlots(hostLane, subscriptionId);
  const running = hostLane.takenBySubscription.get(subscriptionId) ?? 0;
  const withinInitialWindow = countWithinInitialWindow(maxCount, running);
  const othersWait = [...hostLane.waiting.keys()].some((id) => id !== subscriptionId);
  if (withinInitialWindow >= free || othersWait) return Math.min(withinInitialWindow, free);
  const wantedExtra = maxCount - withinInitialWindow;
  return withinInitialWindow + Math.min(wantedExtra, countExtraSlots(free - withinInitialWindow, running));
}

/**
 * Returns how many slots a subscription gets beyond the initial window: at most half of those that are free
 * or already its own.
 * @param free number of slots that are free beyond the initial window of the subscription
 * @param running number of attempts of the subscription
 */
function countExtraSlots(free: number, running: number): number {
  const runningExtra = Math.max(0, running - windowSizes.initial);
  const maxExtra = Math.floor((free + runningExtra) / 2);
  return Math.max(0, maxExtra - runningExtra);
}

/** Returns the number of free slots of the host; at least 1 if the subscription has a guaranteed slot. */
function countFreeSlots(hostLane: HostLane, subscriptionId: string): number {
  const hasGuaranteedSlot =
    hostLane.lane === 'fast' &&
    !hostLane.takenBySubscription.has(subscriptionId) &&
    hostLane.taken < maxLimitFactor * hostLane.limit;
  return Math.max(hasGuaranteedSlot ? 1 : 0, hostLane.limit - hostLane.taken);
}
