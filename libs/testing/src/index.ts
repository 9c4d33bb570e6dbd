export { sendConcurrently } from './send-concurrently.js';
export { eventually } from './eventually.js';
export { listen } from './listen.js';
export { storeUrl, uniqueName } from './stores.js';
export { criticalRule, tokenMaker, type TokenMaker } from './token-maker.js';
export {
  webhookReceiver,
  type Answer,
  type ReceivedDelivery,
  type WebhookReceiver,
} from './webhook-receiver.js';
export { otlpCollector, type OtlpCollector } from './otlp-collector.js';
export type { OtlpSpan } from './otlp-spans.js';
export { certificatesIn, type Certificates } from './certificates.js';
export { tlsProxy, type TlsProxy } from './tls-proxy.js';
export { flakyProxy, type FlakyProxy } from './flaky-proxy.js';
export { serviceProcess } from './service-process.js';
export { freePort } from './free-port.js';
export { fetchTrusting, testGateway, type TestGateway } from './gateway.js';
export { rejectLongBlocks, rejectLongBlocksByText } from './hostile-bodies.js';
