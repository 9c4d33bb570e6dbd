import { UnsupportedMediaType, ValidationFailed } from '@fulfilment/error-envelope';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type Response } from 'express';
import { isUtf8 } from 'node:buffer';
import { bodyLimitOf } from './body-limit.js';
import { readsRawBody } from './raw-body.js';
import { routeTargets } from '../route-targets.js';

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);
type Parse = ReturnType<typeof express.json>;

function jsonParserOf(limitBytes: number): Parse {
  return express.json({
    limit: limitBytes,
    strict: false, // JSON that is no object gets its own error below
    inflate: false,
    type: () => true,
    verify: (_request, _response, bytes, charset) => {
      // Decoding invalid UTF-8 would change the text silently.
      if (charset === 'utf-8' && !isUtf8(bytes)) throw new InvalidUtf8();
    },
  });
}

/** Has the type of the parser's own errors, for which the response is 400. */
class InvalidUtf8 extends Error {
  readonly status = 400;
  readonly type = 'entity.parse.failed';
}

/** Reads the body, as JSON or bytes, after the access guard: 401, 429 and 403 precede 400, 413 and 415. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!methodsWithBody.has(request.method)) return true;
    const targets = routeTargets(context);
    const isRaw = readsRawBody(this.reflector, targets);
    if (hasNoBody(request)) {
      request.body = isRaw ? Buffer.alloc(0) : {};
      return true;
    }
    const response = context.switchToHttp().getResponse<Response>();
    const limitBytes = bodyLimitOf(this.reflector, targets);
    if (isRaw) {
      const parse = express.raw({ limit: limitBytes, inflate: false, type: () => true });
      await readBody(parse, request, response);
      return true;
    }
    // `application/*+json` is JSON too (RFC 6839 §3.1).
    if (request.is(['application/json', 'application/*+json']) === false) throw new UnsupportedMediaType();
    const body = await readBody(jsonParserOf(limitBytes), request, response);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ValidationFailed([{ field: 'body', reason: 'must be an object' }]);
    }
    return true;
  }
}

function hasNoBody(request: Request): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] === undefined && (length === undefined || length === '0');
}

function readBody(parse: Parse, request: Request, response: Response): Promise<unknown> {
  return new Promise((resolve, reject) => {
    parse(request, response, (error: unknown) => {
      if (error === undefined) resolve(request.body);
      else reject(error instanceof Error ? error : new Error('The body could not be read.'));
    });
  });
}
