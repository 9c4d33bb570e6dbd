import {
  type Class,
  type Method,
  methods,
  type OperationDoc,
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
import { accessRulesOf } from '../access/access-rules.js';
import { bodyLimitOf } from '../request-bodies/body-limit.js';
import { idempotencyKeyHeader, readIdempotencyKey } from '../idempotency/idempotency-key.js';
import { isRetriedOnlyWithKey } from '../idempotency/retry-only-with-key.js';
import type { RouteTargets } from '../route-targets.js';
import { apiSettings, operationQuotaSettings, quotasOf } from '../settings.js';

type Handler = (...args: unknown[]) => unknown;

/** Schemas of Nest's metadata, which has no types. */
const prototypeSchema = z.custom<Record<string, Handler>>();
const parameterTypesSchema = z.array(z.custom<Class>().optional()).default([]);
const controllerTypesSchema = z.array(z.custom<Type<object>>()).default([]);
const routeArgumentsSchema = z
  .record(
    z.string(),
    z.object({ index: z.number(), data: z.unknown().optional(), factory: z.unknown().optional() }),
  )
  .default({});

const reflector = new Reflector();
const typesWithoutDto = new Set<unknown>([undefined, String, Number, Boolean, Array, Object]);
const defaultQuotas = quotasOf(
  apiSettings
    .pick({ RATE_LIMIT_DEFAULT: true, RATE_LIMIT_ANONYMOUS: true })
    .extend(operationQuotaSettings)
    .parse({}),
);

/**
 * Reads the routes of the modules' controllers from the metadata of Nest and of our decorators.
 * @throws Error for a handler without `@Operation()`
 */
export function routesOf(modules: readonly Type<object>[]): Route[] {
  const controllers = modules.flatMap((module) =>
    controllerTypesSchema.parse(Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module)),
  );
  return controllers.flatMap((controller) => {
    const prototype = prototypeSchema.parse(controller.prototype);
    return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const isRoute = handler !== undefined && Reflect.hasMetadata(METHOD_METADATA, handler);
      return isRoute ? [routeOf(controller, name, handler)] : [];
    });
  });
}

function routeOf(controller: Type<object>, name: string, handler: Handler): Route {
  const operation = operationOf(handler);
  if (operation === undefined) throw new Error(`${controller.name}.${name} has no @Operation().`);
  const targets: RouteTargets = [handler, controller];
  const method = methodOf(handler);
  const path = [controller, handler].map((target) => reflector.get<string>(PATH_METADATA, target)).join('/');
  const status = reflector.get<number | undefined>(HTTP_CODE_METADATA, handler);
  return {
    method,
    path: openApiPath(path),
    status: status ?? (method === 'post' ? 201 : 200),
    operation,
    access: accessOf(targets),
    ...(['post', 'put', 'patch'].includes(method) && { bodyLimitBytes: bodyLimitOf(reflector, targets) }),
    retryOnlyWithKey: isRetriedOnlyWithKey(reflector, targets),
    ...argumentsOf(controller, name, operation),
  };
}

/** Returns Nest's path in OpenAPI's form: `/v1/orders/{id}` for `v1/orders/:id/`. */
function openApiPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  return `/${segments.map((segment) => segment.replace(/^:(\w+)$/, '{$1}')).join('/')}`;
}

function methodOf(handler: Handler): Method {
  const name = RequestMethod[reflector.get<RequestMethod>(METHOD_METADATA, handler)].toLowerCase();
  const method = methods.find((candidate) => candidate === name);
  if (method === undefined) throw new Error(`The reference does not support the method ${name}.`);
  return method;
}

function accessOf(targets: RouteTargets): Route['access'] {
  const rules = accessRulesOf(reflector, targets);
  if (rules === 'public') return 'public';
  const { scopes, quota } = rules;
  const { requests, windowSeconds } = defaultQuotas[quota];
  return { scopes, rateLimit: { quota, requests, window_seconds: windowSeconds } };
}

/**
 * Returns the DTOs of a handler's body, query and path parameters, and the headers that it reads.
 * @throws Error for a header that the operation does not document
 */
function argumentsOf(
  controller: Type<object>,
  name: string,
  operation: OperationDoc,
): Pick<Route, 'body' | 'query' | 'params' | 'headers'> {
  const prototype = prototypeSchema.parse(controller.prototype);
  const types = parameterTypesSchema.parse(Reflect.getMetadata(PARAMTYPES_METADATA, prototype, name));
  const metadata = routeArgumentsSchema.parse(Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name));
  const dtos = new Map<number, Class | undefined>();
  const headers: Parameter[] = [];
  for (const [key, { index, data, factory }] of Object.entries(metadata)) {
    const type = types[index];
    const source: RouteParamtypes = Number(key.split(':')[0]); // the key is `source:index`
    if (factory === readIdempotencyKey) headers.push(idempotencyKeyHeader);
    else if (source === RouteParamtypes.HEADERS) headers.push(headerOf(operation, String(data)));
    else if (factory === undefined && data === undefined && !typesWithoutDto.has(type)) {
      dtos.set(source, type);
    }
  }
  return {
    body: dtos.get(RouteParamtypes.BODY),
    query: dtos.get(RouteParamtypes.QUERY),
    params: dtos.get(RouteParamtypes.PARAM),
    headers,
  };
}

function headerOf({ id, headers }: OperationDoc, name: string): Parameter {
  const header = headers?.[name];
  if (header === undefined) throw new Error(`${id} does not document its header ${name}.`);
  return { name, in: 'header', schema: { type: 'string' }, ...header };
}
