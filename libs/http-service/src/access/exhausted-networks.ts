import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../client-network.rules.js';
import type { RateLimitDecision } from './quota-share.js';

/** Beyond this number, the network that was seen least recently no longer counts as exhausted. */
const maxNetworks = 20_000;
const signatureChecksWhileExhausted = 5;

interface ExhaustedNetwork {
  readonly decision: RateLimitDecision;
  readonly untilMs: number;
  checksLeft: number;
}

/**
 * Networks whose anonymous quota is exhausted, until it allows a request again. Until then, the signatures of
 * only five new tokens or DPoP proofs from a network are verified, so that forged ones cost little CPU time.
 * Tokens that were verified before are accepted without a check.
 */
export class ExhaustedNetworks {
  private readonly networks = new LRUCache<string, ExhaustedNetwork>({ max: maxNetworks });

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @param decision by which a request of the address was rejected */
  add(address: string | undefined, decision: RateLimitDecision): void {
    const { network } = clientNetwork(address);
    if (this.find(network) !== undefined) return;
    const untilMs = this.nowMs() + decision.retryAfterSeconds * 1_000;
    this.networks.set(network, { decision, untilMs, checksLeft: signatureChecksWhileExhausted });
  }

  /** Counts a signature check for the address. Returns the decision that rejects it; undefined if allowed. */
  countSignatureCheck(address: string | undefined): RateLimitDecision | undefined {
    const exhausted = this.find(clientNetwork(address).network);
    if (exhausted === undefined) return undefined;
    if (exhausted.checksLeft === 0) return exhausted.decision;
    exhausted.checksLeft -= 1;
    return undefined;
  }

  private find(network: string): ExhaustedNetwork | undefined {
    const exhausted = this.networks.get(network);
    return exhausted !== undefined && this.nowMs() < exhausted.untilMs ? exhausted : undefined;
  }
}
