import type { ServiceSettings } from './service-settings.js';
import type { Logger } from '../logger.js';
import { Gauge } from '../metrics.js';

/** A setting whose value switches off a protection of production. */
export interface RelaxedSetting {
  /** The name of the environment variable. */
  readonly setting: string;
  /** One sentence for the operator about the effect, without the value. */
  readonly consequence: string;
}

const relaxedGauge = new Gauge({
  name: 'relaxed_settings',
  help: 'Active settings that are not meant for production: 1 for each, by name',
  labelNames: ['setting'],
});

/** Logs a warning and sets a metric for each relaxed setting. Call once, at start. */
export function reportRelaxedSettings(relaxed: readonly RelaxedSetting[], logger: Logger): void {
  for (const { setting, consequence } of relaxed) {
    logger.warn({ setting }, consequence);
    relaxedGauge.set({ setting }, 1);
  }
}

/** Returns the relaxed settings among those that all services have. */
export function relaxedServiceSettings(
  settings: Pick<ServiceSettings, 'BASE_URL' | 'AUTH_URL'>,
): RelaxedSetting[] {
  return (['BASE_URL', 'AUTH_URL'] as const)
    .filter((setting) => settings[setting].startsWith('http:'))
    .map((setting) => ({
      setting,
      consequence: `${setting} uses plain http: tokens and personal data are sent unencrypted.`,
    }));
}

/** Whether only this machine can reach the URL's host: `localhost`, names below it, 127.0.0.0/8 and ::1. */
export function hasLoopbackHost(url: string): boolean {
  const host = new URL(url).hostname.replace(/\.$/, ''); // an absolute name may end with a dot
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(host)
  );
}
