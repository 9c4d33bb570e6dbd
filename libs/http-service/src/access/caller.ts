import { Attached } from '@fulfilment/runtime';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** The caller of a request, from the claims of the access token. */
export interface Caller {
  readonly subject: string;
  readonly clientId: string;
  /** The creator that the authorization is for. */
  readonly creatorId: string | undefined;
  readonly organisationId: string | undefined;
  readonly organisationRole: string | undefined;
  readonly scopes: ReadonlySet<string>;
  /** The APIs that accept the token: both for a first-party app, one for another app. */
  readonly audiences: readonly string[];
  readonly tokenId: string;
  /** Time of the authorization server's clock, in whole seconds. */
  readonly tokenIssuedAt: Date;
  readonly tokenExpiresAt: Date;
}

const callers = new Attached<Caller>();

export function setCaller(request: object, caller: Caller): void {
  callers.set(request, caller);
}

/** @throws Error on a public route, or before the access guard */
export function callerOf(request: object): Caller {
  const caller = callers.get(request);
  if (caller === undefined)
    throw new Error('No caller: the route is public, or the access guard did not run.');
  return caller;
}

/** Returns the key for limits per caller: the client, with the connected creator or else the person. */
export function callerKey({ clientId, creatorId, subject }: Caller): string {
  return `${clientId}:${creatorId ?? subject}`;
}

/** Returns the key for limits per tenant: the organisation, else the connected creator, else the person. */
export function tenantKey({ organisationId, creatorId, subject }: Caller): string {
  return organisationId ?? creatorId ?? subject;
}

/** Parameter decorator for the caller. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);
