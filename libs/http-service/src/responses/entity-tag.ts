import { Attached } from '@fulfilment/runtime';
import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { hash } from 'node:crypto';

/**
 * Adds an ETag: a hash of the response body, so that it differs wherever the body does, for example by
 * caller. If it matches `If-None-Match`, Express responds with 304 (RFC 9110 §13.1.2). Shared caches store
 * nothing; private caches revalidate each time.
 */
export function EntityTag(): MethodDecorator {
  return UseGuards(EntityTagGuard);
}

const responsesWithTag = new Attached<true>();

/** Rejects nothing. It marks the response, to which `ServiceAdapter` adds the ETag when it has the body. */
class EntityTagGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    responsesWithTag.set(context.switchToHttp().getResponse<Response>(), true);
    return true;
  }
}

export function hasEntityTag(response: Response): boolean {
  return responsesWithTag.get(response) === true;
}

/** @param text the body of the response */
export function addEntityTag(response: Response, text: string): void {
  response.setHeader('ETag', entityTagOf(text));
  response.setHeader('Cache-Control', 'private, no-cache');
}

/** Returns the ETag of a text: 27 base64url characters are 162 bits of its SHA-256. */
export function entityTagOf(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}
