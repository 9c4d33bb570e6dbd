export { GuardedClient } from './guarded-client.js';
export { GuardedClientModule } from './guarded-client.module.js';
export type { Exchange } from './exchange.js';
export { outcomes, type Outcome } from './outcome.rules.js';
export { hostAndPort, toUri } from './target-url.rules.js';
export type { ResolvedAddress } from './resolve-addresses.js';
export {
  guardedClientSettings,
  rejectLoopbackTargetsOfPublicSuite,
  relaxedTargetSettings,
} from './settings.js';
