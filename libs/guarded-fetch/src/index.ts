export { GuardedClient, type GuardedClientSettings, type GuardedRequest } from './guarded-client.js';
export { GuardedClientModule } from './guarded-client.module.js';
export type { AbortReason, Exchange, ExchangeLimits } from './exchange.js';
export { outcomes, type Outcome } from './outcome.rules.js';
export { addressRule, type AddressPolicy, type AddressRule } from './address.rules.js';
export { targetUri } from './target-uri.rules.js';
export { hostAndPort, targetUrlProblem, type TargetPolicy } from './target-url.rules.js';
export type { ResolveAddresses, ResolvedAddress } from './resolve-addresses.js';
export {
  guardedClientSettings,
  openGuardedClient,
  rejectLoopbackTargetsInPublic,
  relaxedTargetSettings,
} from './settings.js';
