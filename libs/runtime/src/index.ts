export { exitCodeConfig, readConfig } from './settings/read-config.js';
export { CONFIG, serviceSettings, type ServiceSettings } from './settings/service-settings.js';
export {
  booleanSetting,
  delaysSetting,
  integerSetting,
  keyPrefix,
  keyring,
  poolSize,
} from './settings/setting-types.js';
export { secret } from './settings/secret-files.js';
export { brokerNodes, redisSettings, type RedisSettings } from './settings/store-addresses.js';
export { currentContext, inContext, WorkContext } from './work-context.js';
export { nextTraceparent } from './tracing/traceparent.js';
export { endFailed, Span, type SpanStart } from './tracing/span.js';
export {
  isTracing,
  recordedTrace,
  startChildOf,
  startTrace,
  type Trace,
  traceparentOfEffect,
} from './tracing/tracer.js';
export { currentSpan, endAfter, inSpan } from './tracing/in-span.js';
export { startTracing, type Tracing } from './tracing/start-tracing.js';
export { createLogger, LOGGER, nestLogger, type Logger } from './logger.js';
export { collectDefaultMetrics, Counter, Gauge, Histogram, metrics, TraceHistogram } from './metrics.js';
export { startInternalServer, type InternalRoute, type InternalServer } from './internal-server.js';
export {
  hasLoopbackHost,
  relaxedServiceSettings,
  reportRelaxedSettings,
  type RelaxedSetting,
} from './settings/relaxed-settings.js';
export { es256FromDer, es256ToDer } from './cryptography/es256-signature.js';
export { SecretBox, UnreadableSecret } from './cryptography/secret-box.js';
export { Attached } from './attached.js';
export { WarningLimit } from './warning-limit.js';
export { resolveWithin } from './resolve-within.js';
export { BackgroundTask } from './background/background-task.js';
export { BackgroundLoop } from './background/background-loop.js';
export { PollLimit } from './background/poll-limit.js';
export { SlotLoop } from './background/slot-loop.js';
export { CLOCK, systemClock, type Clock } from './clock.js';
