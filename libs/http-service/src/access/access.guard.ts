import { Forbidden, RateLimited, Unauthorized } from '@fulfilment/error-envelope';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { accessRulesOf, type RateLimitName } from './access-rules.js';
import { type Caller, callerKey, setCaller } from './caller.js';
import { challengeOf, type Credentials, credentialsOf } from './credentials.js';
import { DpopProofs } from './dpop-proofs.js';
import { ExhaustedNetworks } from './exhausted-networks.js';
import type { RateLimitDecision } from './quota-share.js';
import { RateLimiter } from './rate-limiter.js';
import { RevokedTokens } from './revoked-tokens.js';
import { TokenVerifier } from './token-verifier.js';
import { routeTargets } from '../route-targets.js';

/** Nest's token for the URL of the RFC 9728 metadata. */
export const RESOURCE_METADATA_URL = Symbol('RESOURCE_METADATA_URL');

type AccessError = 'invalid_token' | 'invalid_dpop_proof';

const unauthorizedMessages = {
  missing: 'Send an access token as Authorization: Bearer.',
  invalid_token: 'The access token is malformed, expired, revoked or not for this API.',
  invalid_dpop_proof: 'The DPoP proof is missing, invalid, already used or not for this request and token.',
} as const;

/**
 * Authorizes a request, in this order: 401 (no valid token), 429 (quota exhausted), 403 (missing scope). A
 * network that exhausted its anonymous quota gets 429 instead of 401.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly exhaustedNetworks = new ExhaustedNetworks();

  constructor(
    private readonly reflector: Reflector,
    private readonly tokenVerifier: TokenVerifier,
    private readonly revokedTokens: RevokedTokens,
    private readonly rateLimiter: RateLimiter,
    private readonly dpopProofs: DpopProofs,
    @Inject(RESOURCE_METADATA_URL) private readonly resourceMetadataUrl: string,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rules = accessRulesOf(this.reflector, routeTargets(context));
    if (rules === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const credentials = credentialsOf(request.headers.authorization);
    const caller = await this.authenticateWithinQuota(request, response, rules.quota, credentials);
    this.requireScopes(caller, rules.scopes, credentials?.scheme ?? 'Bearer');
    setCaller(request, caller);
    return true;
  }

  /** Returns the caller, and counts the request against its quota. @throws Unauthorized, RateLimited */
  private async authenticateWithinQuota(
    request: Request,
    response: Response,
    quota: RateLimitName,
    credentials: Credentials | undefined,
  ): Promise<Caller> {
    if (credentials === undefined) return this.reject(request);
    const caller = await this.verifyCredentials(request, credentials);
    if (typeof caller === 'string') return this.reject(request, credentials.scheme, caller);
    const [revoked, decision] = await Promise.all([
      this.revokedTokens.has(caller.tokenId),
      this.rateLimiter.take(quota, callerKey(caller)),
    ]);
    if (revoked) return this.reject(request, credentials.scheme, 'invalid_token');
    // Fails open: there is no decision while Redis is down.
    if (decision !== undefined) {
      const headers = this.rateLimiter.headers(quota, decision);
      if (!decision.allowed) throw new RateLimited(decision.retryAfterSeconds, headers);
      response.set(headers);
    }
    return caller;
  }

  /** Returns the caller, or the error. A DPoP proof is used only for a valid token that is bound to a key. */
  private async verifyCredentials(
    request: Request,
    { scheme, token }: Credentials,
  ): Promise<Caller | AccessError> {
    const countSignatureCheck = (): void => {
      const rejection = this.exhaustedNetworks.countSignatureCheck(request.ip);
      if (rejection !== undefined) this.rejectAnonymous(rejection);
    };
    if (scheme === 'Bearer')
      return (await this.tokenVerifier.verify(token, countSignatureCheck)) ?? 'invalid_token';
    const bound = await this.tokenVerifier.verifyBound(token, countSignatureCheck);
    if (bound === undefined) return 'invalid_token';
    const isProven = await this.dpopProofs.useProof(request, token, bound.keyThumbprint, countSignatureCheck);
    return isProven ? bound.caller : 'invalid_dpop_proof';
  }

  /** Rejects a request without a valid token or proof, and counts it by network: guessing must be slow. */
  private async reject(
    request: Request,
    scheme: Credentials['scheme'] = 'Bearer',
    error?: AccessError,
  ): Promise<never> {
    const decision = await this.rateLimiter.takeByAddress('anonymous', request.ip);
    if (decision?.allowed === false) {
      this.exhaustedNetworks.add(request.ip, decision);
      this.rejectAnonymous(decision);
    }
    const challenge = this.challenge(scheme, error === undefined ? {} : { error });
    throw new Unauthorized(unauthorizedMessages[error ?? 'missing'], challenge);
  }

  private rejectAnonymous(decision: RateLimitDecision): never {
    throw new RateLimited(decision.retryAfterSeconds, this.rateLimiter.headers('anonymous', decision));
  }

  private requireScopes(caller: Caller, scopes: readonly string[], scheme: Credentials['scheme']): void {
    const missing = scopes.filter((scope) => !caller.scopes.has(scope));
    if (missing.length === 0) return;
    const scope = missing.join(' ');
    throw new Forbidden(
      `The access token lacks the scope ${scope}.`,
      this.challenge(scheme, { error: 'insufficient_scope', scope }),
    );
  }

  private challenge(scheme: Credentials['scheme'], members: Readonly<Record<string, string>>): string {
    return challengeOf(scheme, { resource_metadata: this.resourceMetadataUrl, ...members });
  }
}
