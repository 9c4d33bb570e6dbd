import { Forbidden, RateLimited, Unauthorized } from '@fulfilment/error-envelope';
import { type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { type RateLimitName, publicKey, rateLimitKey, scopesKey } from './access-rules.js';
import { type Caller, setCaller } from './caller.js';
import type { RateLimiter } from './rate-limiter.js';
import type { RevokedTokens } from './revoked-tokens.js';
import type { TokenVerifier } from './token-verifier.js';

/** Who may come in, in this order: 401 (no good token) → 429 (too many) → 403 (a scope is missing). */
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: TokenVerifier,
    private readonly revoked: RevokedTokens,
    private readonly limiter: RateLimiter,
    /** Where RFC 9728 metadata lies, named in the challenge. */
    private readonly resourceMetadataUrl: string,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(publicKey, places) === true) return true;
    const scopes = this.reflector.getAllAndOverride<readonly string[] | undefined>(scopesKey, places);
    if (scopes === undefined) throw new Error('A route says neither @Scopes() nor @Public().');
    const quota =
      this.reflector.getAllAndOverride<RateLimitName | undefined>(rateLimitKey, places) ?? 'default';

    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const caller = await this.authenticate(request, response, quota);
    this.requireScopes(caller, scopes);
    setCaller(request, caller);
    return true;
  }

  private async authenticate(request: Request, response: Response, quota: RateLimitName): Promise<Caller> {
    const token = bearerToken(request.headers.authorization);
    const caller = token === undefined ? undefined : await this.tokens.verify(token);
    if (caller === undefined) return this.refuse(request, token !== undefined);
    const who = `${caller.clientId}:${caller.creatorId ?? caller.subject}`;
    // At the same time, and for who asks often not at each request (docs/adr/0019).
    const [revoked, decision] = await Promise.all([
      this.revoked.has(caller.tokenId),
      this.limiter.take(quota, who),
    ]);
    if (revoked) return this.refuse(request, true);
    if (decision !== undefined) {
      const headers = this.limiter.headers(quota, decision);
      if (!decision.allowed) throw new RateLimited(decision.retryAfterSeconds, headers);
      response.set(headers);
    }
    return caller;
  }

  /** Nobody we know: counted by network, so that guessing tokens is slow. */
  private async refuse(request: Request, tokenGiven: boolean): Promise<never> {
    const decision = await this.limiter.takeByAddress('anonymous', request.ip);
    if (decision?.allowed === false) {
      throw new RateLimited(decision.retryAfterSeconds, this.limiter.headers('anonymous', decision));
    }
    const challenge = `Bearer realm="api", resource_metadata="${this.resourceMetadataUrl}"`;
    if (!tokenGiven) throw new Unauthorized('Send an access token as Authorization: Bearer.', challenge);
    throw new Unauthorized(
      'The access token is malformed, expired, revoked or not for this API.',
      `${challenge}, error="invalid_token"`,
    );
  }

  private requireScopes(caller: Caller, scopes: readonly string[]): void {
    const missing = scopes.filter((scope) => !caller.scopes.has(scope));
    if (missing.length === 0) return;
    throw new Forbidden(
      `The access token lacks the scope ${missing.join(' ')}.`,
      `Bearer realm="api", error="insufficient_scope", scope="${missing.join(' ')}"`,
    );
  }
}

/** RFC 6750 §2.1; the scheme's name is case-insensitive (RFC 9110 §11.1). A token anywhere else does not count. */
function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(header ?? '')?.[1];
}
