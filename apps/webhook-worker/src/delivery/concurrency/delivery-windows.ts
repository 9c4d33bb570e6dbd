import type { Exchange } from '@fulfilment/guarded-fetch';
import { Injectable } from '@nestjs/common';
import { setNewest } from '../../set-newest.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { initialWindow, type Window, windowAfterAttempt, type WindowAtStart } from './window.rules.js';

/** Bounds the memory: beyond it, the window that was used least recently is deleted and starts again. */
const maxWindows = 50_000;

/** The window of a subscription's receiver. */
export interface ReceiverWindow {
  /** Undefined while the process has no window for the subscription. */
  readonly url: string | undefined;
  readonly window: Window;
}

const unknownReceiver: ReceiverWindow = { url: undefined, window: initialWindow };

/** The windows of this process, by subscription. The results of its attempts change them. */
@Injectable()
export class DeliveryWindows {
  private readonly windows = new Map<string, ReceiverWindow>();

  /** Returns the known window. The claim checks whether the subscription still has its URL. */
  get(subscriptionId: string): ReceiverWindow {
    return this.windows.get(subscriptionId) ?? unknownReceiver;
  }

  /** Returns the window for the URL that a claim has read. Replaces the window if the URL has changed. */
  getForUrl(subscriptionId: string, url: string): Window {
    const known = this.windows.get(subscriptionId);
    const current = known?.url === url ? known : { url, window: initialWindow };
    setNewest(this.windows, subscriptionId, current, maxWindows);
    return current.window;
  }

  /**
   * Changes the window by the result of an attempt. Ignores test events, failures on our side, and attempts
   * at a URL that was replaced during the attempt.
   */
  record(
    { subscriptionId, url, test }: Pick<LeasedDelivery, 'subscriptionId' | 'url' | 'test'>,
    atStart: WindowAtStart,
    { outcome, isLocalFailure, processStalled, durationMs }: Exchange,
  ): void {
    const known = this.windows.get(subscriptionId);
    if (test || isLocalFailure || known?.url !== url) return;
    const window = windowAfterAttempt(known.window, {
      ...atStart,
      succeeded: outcome === 'succeeded',
      durationMs: processStalled ? null : durationMs,
    });
    this.windows.set(subscriptionId, { url, window });
  }
}
