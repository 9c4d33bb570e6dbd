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
  MODULE_METADATA,
  PARAMTYPES_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner, Reflector } from '@nestjs/core';
import { z } from 'zod';
import {
  publicRouteMetadata,
  rateLimitMetadata,
  type RateLimitName,
  scopesMetadata,
} from '../access/access-rules.js';
import { bodyLimitOf } from '../body-limit.js';
import { idempotencyKeyHeader, readIdempotencyKey } from '../dto/idempotency-key.js';
import { isRetriedOnlyWithKey } from '../retry-only-with-key.js';
import { apiSettings, operationQuotaSettings, quotasOf } from '../settings.js';

type Handler = (...args: unknown[]) => unknown;

/** What Nest's metadata says about a handler; it has no types. */
const prototypeOf = z.custom<Record<string, Handler>>();
const parameterTypes = z.array(z.custom<Class>().optional()).default([]);
const controllerTypes = z.array(z.custom<Type<object>>()).default([]);
const routeArguments = z
  .record(
    z.string(),
    z.object({ index: z.number(), data: z.unknown().optional(), factory: z.unknown().optional() }),
  )
  .default({});

const reflector = new Reflector();
const notDtos = new Set<unknown>([undefined, String, Number, Boolean, Array, Object]);
const defaultQuotas = quotasOf(
  apiSettings
    .pick({ RATE_LIMIT_DEFAULT: true, RATE_LIMIT_ANONYMOUS: true })
    .extend(operationQuotaSettings)
    .parse({}),
);

/**
 * Reads the routes of the modules' controllers from Nest's and the guards' metadata.
 * @throws Error for a handler without `@Operation()`
 */
export function routesOf(modules: readonly Type<object>[]): Route[] {
  return modules.flatMap(controllersOf).flatMap((controller) => {
    const prototype = prototypeOf.parse(controller.prototype);
    return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const isRoute = handler !== undefined && Reflect.hasMetadata(METHOD_METADATA, handler);
      return isRoute ? [routeOf(controller, name, handler)] : [];
    });
  });
}

function controllersOf(module: Type<object>): readonly Type<object>[] {
  return controllerTypes.parse(Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module));
}

function routeOf(controller: Type<object>, name: string, handler: Handler): Route {
  const operation = operationOf(handler);
  if (operation === undefined) throw new Error(`${controller.name}.${name} has no @Operation().`);
  const places = [handler, controller];
  const method = methodOf(handler);
  const path = places.map((place) => reflector.get<string>(PATH_METADATA, place)).reverse();
  const status = reflector.get<number | undefined>(HTTP_CODE_METADATA, handler);
  return {
    method,
    path: `/${path.join('/')}`
      .replace(/\/+/g, '/')
      .replace(/(?<=.)\/$/, '')
      .replace(/:(\w+)/g, '{$1}'),
    status: status ?? (method === 'post' ? 201 : 200),
    operation,
    access: accessOf(places),
    ...(['post', 'put', 'patch'].includes(method) && { bodyLimitBytes: bodyLimitOf(reflector, places) }),
    retryOnlyWithKey: isRetriedOnlyWithKey(reflector, places),
    ...argumentsOf(controller, name),
  };
}

function methodOf(handler: Handler): Method {
  const name = RequestMethod[reflector.get<RequestMethod>(METHOD_METADATA, handler)].toLowerCase();
  const method = methods.find((candidate) => candidate === name);
  if (method === undefined) throw new Error(`The reference does not support the method ${name}.`);
  return method;
}

function accessOf(places: Parameters<Reflector['getAllAndOverride']>[1]): Route['access'] {
  if (reflector.getAllAndOverride<boolean | undefined>(publicRouteMetadata, places) === true) return 'public';
  const quota =
    reflector.getAllAndOverride<RateLimitName | undefined>(rateLimitMetadata, places) ?? 'default';
  const { requests, windowSeconds } = defaultQuotas[quota];
  return {
    scopes: reflector.getAllAndOverride<readonly string[]>(scopesMetadata, places),
    rateLimit: { quota, requests, window_seconds: windowSeconds },
  };
}

/** The DTOs of a handler's arguments by their source, and the headers it reads. */
function argumentsOf(
  controller: Type<object>,
  name: string,
): Pick<Route, 'body' | 'query' | 'params' | 'headers'> {
  const prototype = prototypeOf.parse(controller.prototype);
  const types = parameterTypes.parse(Reflect.getMetadata(PARAMTYPES_METADATA, prototype, name));
  const stated = routeArguments.parse(Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name));
  const dtos = new Map<number, Class | undefined>();
  const headers: Parameter[] = [];
  for (const [key, { index, data, factory }] of Object.entries(stated)) {
    const type = types[index];
    if (factory === readIdempotencyKey) headers.push(idempotencyKeyHeader);
    else if (factory === undefined && data === undefined && !notDtos.has(type)) {
      dtos.set(Number(key.split(':')[0]), type);
    }
  }
  return {
    body: dtos.get(RouteParamtypes.BODY),
    query: dtos.get(RouteParamtypes.QUERY),
    params: dtos.get(RouteParamtypes.PARAM),
    headers,
  };
}
