export { callerKey, CurrentCaller, tenantKey, type Caller } from './access/caller.js';
export { TokenVerifier } from './access/token-verifier.js';
export { NoScopes, Public, RateLimit, Scopes } from './access/access-rules.js';
export type { Quota } from './access/quota-share.js';
export { RateLimiter } from './access/rate-limiter.js';
export { BodyLimit } from './request-bodies/body-limit.js';
export { RawBody, ReadRawBody } from './request-bodies/raw-body.js';
export { ConcurrencyLimit } from './concurrency-limit.js';
export { FailureThrottle } from './failure-throttle.js';
export { RetryOnlyWithKey } from './idempotency/retry-only-with-key.js';
export { RevokedTokens } from './access/revoked-tokens.js';
export { SignedCursors, type CursorKey } from './signed-cursors.js';
export { ApiModule } from './api.module.js';
export { HttpModule } from './http.module.js';
export { HTTP_OPTIONS, type HttpOptions, startHttp } from './start-http.js';
export { nameRoute } from './server/request-metrics.js';
export {
  callerAddress,
  jsonResponse,
  type RenderedResponse,
  type RawHandler,
  sendRendered,
} from './server/before-express.js';
export { clientNetwork, widerNetworkFactor } from './client-network.rules.js';
export { READINESS_CHECKS, type ReadinessChecks } from './server/health.js';
export { IntegerField, IntegerParameter } from './dto/integers.js';
export { TextField } from './dto/texts.js';
export { TextMapField } from './dto/text-map.js';
export { StorePageDto } from './dto/store-page.dto.js';
export { ResponseWithHeaders } from './responses/response-with-headers.js';
export { Disconnect } from './responses/disconnect.js';
export { sendDownload, sendEvents } from './responses/send-stream.js';
export { EntityTag } from './responses/entity-tag.js';
export { IdempotencyKey } from './idempotency/idempotency-key.js';
export {
  createOnce,
  findCreated,
  deleteExpiredIdempotencyKeys,
  type CreatedOnce,
  type KeyedRequest,
  type KeyScope,
} from './idempotency/create-once.js';
export { fingerprint, keyedFingerprint } from './idempotency/fingerprint.rules.js';
export { keyMismatch, keyConflicts, replayHeaders, keyInUse } from './idempotency/key-conflicts.js';
export { NumberedPageDto, PageNumber, PageSize } from './dto/numbered-page.dto.js';
export { DateTimeField } from './dto/date-times.js';
export { UuidField } from './dto/uuids.js';
export { BodyCheckedBy, type BodyCheck } from './dto/body-check.js';
export { WithPathErrors } from './dto/path-errors.js';
export { ObjectField, ObjectList } from './dto/object-list.js';
export { Html, html } from './responses/html.js';
export { routesOf } from './reference/routes.js';
