import { z } from 'zod';
import { type Tolerance, type Document, rejections, target } from './json-schema.ts';

const body = z.looseObject({
  required: z.boolean().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.unknown() })).optional(),
});
type Body = z.infer<typeof body>;
const parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema: z.unknown(),
});
const operation = z.looseObject({
  parameters: z.array(parameter).default([]),
  requestBody: body.optional(),
  responses: z.record(z.string(), z.unknown()).default({}),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
});
type Operation = z.infer<typeof operation>;
const openApi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.looseObject({ post: operation })).default({}),
});

/** A service rejects unknown values, and ignores unknown members, on whose effect a client may rely. */
const service: Tolerance = { newValues: 'rejected', unknownMembers: 'rejected' };
/** A client ignores members and values that it does not know (docs/receiving-webhooks.md, docs/client.md). */
const client: Tolerance = { newValues: 'accepted', unknownMembers: 'accepted' };

/**
 * Compares the OpenAPI documents of two releases. Returns what breaks a client of the older one: a request
 * that is rejected now, or a response that lacks what was promised.
 */
export function httpBreaks(released: Document, current: Document): string[] {
  const [before, after] = [openApi.parse(released), openApi.parse(current)];
  const operations = Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, old]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (now === undefined) return [`${name} was removed`];
      return [
        ...parameterBreaks(old, now),
        ...bodyBreaks(old.requestBody, now.requestBody),
        ...responseBreaks(old, now),
        ...scopeBreaks(old, now),
      ].map((found) => `${name}: ${found}`);
    }),
  );
  const webhooks = Object.entries(before.webhooks).flatMap(([event, { post: old }]) => {
    const now = after.webhooks[event]?.post;
    if (now === undefined) return [`Webhook ${event} was removed`];
    return bodyRejections(now.requestBody, old.requestBody, client, 'writer').map(
      (found) => `Webhook ${event}: ${found}`,
    );
  });
  return [...operations, ...webhooks];

  function parameterBreaks(old: Operation, now: Operation): string[] {
    const find = (operation: Operation, { name, in: location }: z.infer<typeof parameter>) =>
      operation.parameters.find((one) => one.name === name && one.in === location);
    return [
      ...old.parameters.flatMap((one) => {
        const same = find(now, one);
        if (same === undefined) return [`parameter ${one.name} was removed`];
        return rejections(
          { document: released, schema: one.schema },
          { document: current, schema: same.schema },
          service,
        ).map((found) => `parameter ${one.name}: ${found}`);
      }),
      ...now.parameters
        .filter((one) => one.required === true && find(old, one)?.required !== true)
        .map((one) => `parameter ${one.name} is required now`),
    ];
  }

  function bodyBreaks(old: Body | undefined, now: Body | undefined): string[] {
    if (old === undefined) return now?.required === true ? ['a body is required now'] : [];
    const isRequiredNow = now?.required === true && old.required !== true;
    return [
      ...(isRequiredNow ? ['a body is required now'] : []),
      ...bodyRejections(old, now, service, 'reader').map((found) => `body: ${found}`),
    ];
  }

  function responseBreaks(old: Operation, now: Operation): string[] {
    const isSuccess = (status: string): boolean => /^[23]/.test(status);
    const added = Object.keys(now.responses).filter(
      (status) => isSuccess(status) && old.responses[status] === undefined,
    );
    return [
      ...added.map((status) => `may respond with ${status} now`),
      ...Object.entries(old.responses).flatMap(([status, response]) => {
        const same = now.responses[status];
        if (same === undefined) return isSuccess(status) ? [`no longer responds with ${status}`] : [];
        return bodyRejections(resolved(current, same), resolved(released, response), client, 'writer').map(
          (found) => `response ${status}: ${found}`,
        );
      }),
    ];
  }

  /** Compares bodies by media type. `currentIs` is the side to which the current document belongs. */
  function bodyRejections(
    written: Body | undefined,
    read: Body | undefined,
    tolerance: Tolerance,
    currentIs: 'writer' | 'reader',
  ): string[] {
    const [writer, reader] = currentIs === 'writer' ? [current, released] : [released, current];
    const promised = currentIs === 'writer' ? read : written;
    return Object.keys(promised?.content ?? {}).flatMap((type) => {
      const [from, to] = [written?.content?.[type], read?.content?.[type]];
      if (from === undefined || to === undefined) return [`${type} was removed`];
      return rejections(
        { document: writer, schema: from.schema },
        { document: reader, schema: to.schema },
        tolerance,
      );
    });
  }
}

/** A token that was sufficient must remain sufficient. Each set begins with the security scheme. */
function scopeBreaks(old: Operation, now: Operation): string[] {
  const scopeSets = (security: Operation['security']): string[][] =>
    security.map((alternative) =>
      Object.entries(alternative).flatMap(([scheme, scopes]) => [scheme, ...scopes]),
    );
  const alternatives = scopeSets(now.security);
  if (alternatives.length === 0) return [];
  const before = old.security.length === 0 ? [[]] : scopeSets(old.security);
  const insufficient = before.filter(
    (scopes) => !alternatives.some((needed) => needed.every((one) => scopes.includes(one))),
  );
  return insufficient.map(
    (scopes) => `a token with ${scopes.slice(1).join(' ') || 'no scope'} is no longer sufficient`,
  );
}

function resolved(document: Document, response: unknown): Body {
  const { $ref: reference } = z.looseObject({ $ref: z.string().optional() }).parse(response);
  return body.parse(reference === undefined ? response : target(document, reference));
}
