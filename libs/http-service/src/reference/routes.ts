import {
  type Class,
  type Method,
  methods,
  operationOf,
  type Parameter,
  type Route,
} from '@fulfilment/api-reference';
import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PARAMTYPES_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import { z } from 'zod';
import { publicKey, rateLimitKey, type RateLimitName, scopesKey } from '../access/access-rules.js';
import type { Quotas } from '../access/rate-limiter.js';
import { bodyLimitOf } from '../body-limit.js';
import { idempotencyKeyHeader, readIdempotencyKey } from '../dto/idempotency-key.js';
import { isRetriedOnlyWithKey } from '../retry-only-with-key.js';
import { apiSettings, operationQuotaSettings } from '../settings.js';

export type Controller = Type<object>;

type Handler = (...args: unknown[]) => unknown;

/** Nest's metadata about handlers, which has no types. */
const isFunction = (value: unknown): boolean => typeof value === 'function';
const httpStatus = z.number().optional();
const requestMethod = z.enum(RequestMethod).default(RequestMethod.GET);
const prototypeShape = z.custom<object>((value) => typeof value === 'object' && value !== null);
const parameterTypes = z.array(z.custom<Class>(isFunction).optional()).default([]);
const statedArguments = z
  .record(
    z.string(),
    z.object({ index: z.number(), data: z.unknown().optional(), factory: z.unknown().optional() }),
  )
  .default({});

const reflector = new Reflector();
const notDtos = new Set<unknown>([String, Number, Boolean, Array, Object]);

/** The default quotas. */
export const defaultQuotas: Quotas = {
  default: apiSettings.shape.RATE_LIMIT_DEFAULT.parse(undefined),
  'orders-create': operationQuotaSettings.RATE_LIMIT_ORDERS_CREATE.parse(undefined),
  quotes: operationQuotaSettings.RATE_LIMIT_QUOTES.parse(undefined),
  stats: operationQuotaSettings.RATE_LIMIT_STATS.parse(undefined),
  anonymous: apiSettings.shape.RATE_LIMIT_ANONYMOUS.parse(undefined),
};

/**
 * Reads the routes of controllers from Nest's and the guards' metadata.
 * @throws Error for a handler without `@Operation()`
 */
export function routesOf(controllers: readonly Controller[]): Route[] {
  return controllers.flatMap((controller) => {
    const prototype = prototypeShape.parse(controller.prototype);
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler: unknown = Reflect.get(prototype, name);
      return isHandler(handler) ? [routeOf(controller, name, handler)] : [];
    });
  });
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value);
}

function routeOf(controller: Controller, name: string, handler: Handler): Route {
  const operation = operationOf(handler);
  if (operation === undefined) throw new Error(`${controller.name}.${name} has no @Operation().`);
  const method = methodOf(handler);
  const status = httpStatus.parse(Reflect.getMetadata(HTTP_CODE_METADATA, handler));
  const given = argumentsOf(controller, name);
  const dto = (kind: RouteParamtypes): Class | undefined => given.dtos.get(kind);
  return {
    method,
    path: `/${pathOf(controller)}/${pathOf(handler)}`
      .replace(/\/+/g, '/')
      .replace(/(?<=.)\/$/, '')
      .replace(/:(\w+)/g, '{$1}'),
    status: status ?? (method === 'post' ? 201 : 200),
    operation,
    access: accessOf(controller, handler),
    ...(['post', 'put', 'patch'].includes(method) && {
      bodyLimitBytes: bodyLimitOf(reflector, [handler, controller]),
    }),
    retryOnlyWithKey: isRetriedOnlyWithKey(reflector, [handler, controller]),
    body: dto(RouteParamtypes.BODY),
    query: dto(RouteParamtypes.QUERY),
    params: dto(RouteParamtypes.PARAM),
    headers: given.headers,
  };
}

function methodOf(handler: object): Method {
  const name =
    RequestMethod[requestMethod.parse(Reflect.getMetadata(METHOD_METADATA, handler))].toLowerCase();
  const method = methods.find((candidate) => candidate === name);
  if (method === undefined) throw new Error(`The reference does not support the method ${name}.`);
  return method;
}

function pathOf(place: object): string {
  const path: unknown = Reflect.getMetadata(PATH_METADATA, place);
  if (typeof path !== 'string') throw new Error('The reference supports one path per handler.');
  return path;
}

function accessOf(controller: Controller, handler: Handler): Route['access'] {
  const places = [handler, controller];
  if (reflector.getAllAndOverride<boolean | undefined>(publicKey, places) === true) return 'public';
  return {
    scopes: reflector.getAllAndOverride<readonly string[]>(scopesKey, places),
    quota: reflector.getAllAndOverride<RateLimitName | undefined>(rateLimitKey, places) ?? 'default',
  };
}

/** The DTOs of a handler's arguments by their source, and the headers it reads. */
function argumentsOf(
  controller: Controller,
  name: string,
): { dtos: Map<RouteParamtypes, Class>; headers: Parameter[] } {
  const prototype = prototypeShape.parse(controller.prototype);
  const types = parameterTypes.parse(Reflect.getMetadata(PARAMTYPES_METADATA, prototype, name));
  const stated = statedArguments.parse(Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name));
  const dtos = new Map<RouteParamtypes, Class>();
  const headers: Parameter[] = [];
  for (const [key, { index, data, factory }] of Object.entries(stated)) {
    const type = types[index];
    if (factory === readIdempotencyKey) headers.push(idempotencyKeyHeader);
    else if (factory === undefined && data === undefined && type !== undefined && !notDtos.has(type)) {
      dtos.set(Number(key.split(':')[0]), type);
    }
  }
  return { dtos, headers };
}
