import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { Counter, Gauge, register as metrics } from 'prom-client';

const eventHandlers = Symbol.for('EVENT_HANDLERS');
const testTimeout = Symbol.for('TEST_TIMEOUT_SYMBOL');
const exit = process.exit;

/**
 * A Jest environment without a `vm` context: the tests see the globals of their worker process. After each
 * spec file it restores what is process-wide: settings, mocks, timers, metrics, and Jest's own state.
 * See ADR 54.
 */
export default class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #settings = { ...process.env };

  /** @param {import('@jest/environment').JestEnvironmentConfig} config */
  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const metric of metrics.getMetricsAsArray()) setToZero(metric);
    for (const name of Object.keys(process.env)) if (!(name in this.#settings)) delete process.env[name];
    Object.assign(process.env, this.#settings);
    process.exit = exit; // the runner wraps it for each file
    delete globalThis[eventHandlers];
    delete globalThis[testTimeout];
  }

  exportConditions() {
    return [];
  }

  getVmContext() {
    return null;
  }
}

/**
 * Sets each series of a counter or gauge to 0. Their own `reset` would delete the series with labels, some of
 * which start at 0 when their module is loaded.
 */
function setToZero(metric) {
  if (!(metric instanceof Counter || metric instanceof Gauge)) return metric.reset();
  for (const series of Object.values(metric.hashMap)) series.value = 0;
}
