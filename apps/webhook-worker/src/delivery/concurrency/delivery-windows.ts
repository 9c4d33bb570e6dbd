import type { Exchange } from '@fulfilment/guarded-fetch';
import { Injectable } from '@nestjs/common';
import { setNewest } from '../../set-newest.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { initialWindow, type Window, windowAfterAttempt, type WindowAtStart } from './window.rules.js';

/** Bounds the memory: beyond it, the window that was used least recently is deleted and starts again. */
const maxWindows = 50_000;

/** The window of a subscription's receiver. */
export interface ReceiverWindow {
  /** Undefined until this process claims a delivery to the receiver, and after it drops the window. */
  readonly url: string | undefined;
  readonly window: Window;
}

const unknownReceiver: ReceiverWindow = { url: undefined, window: initialWindow };

/** The windows of this process, which it learns from its own attempts. A new URL gets a new window. */
@Injectable()
export class DeliveryWindows {
  private readonly windows = new Map<string, ReceiverWindow>();

  /** Returns the known window. A claim checks whether the subscription still has its URL. */
  get(subscriptionId: string): ReceiverWindow {
    return this.windows.get(subscriptionId) ?? unknownReceiver;
  }

  /** Returns the window for the URL that the claim has read: a new one if the URL has changed. */
  afterClaim(subscriptionId: string, url: string): Window {
    const known = this.windows.get(subscriptionId);
    const used = known?.url === url ? known : { url, window: initialWindow };
    setNewest(this.windows, subscriptionId, used, maxWindows);
    return used.window;
  }

  /**
   * Changes the window by the result of an attempt. Ignores test events, failures on our side, and receivers
   * that were replaced during the attempt.
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
