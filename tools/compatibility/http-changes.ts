import { z } from 'zod';
import { type Tolerance, type Document, rejections, referencedPart } from './json-schema.ts';

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
type Parameter = z.infer<typeof parameter>;
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

/** A service rejects unknown values. It ignores unknown members, but clients may rely on their effect. */
const service: Tolerance = { newValues: 'rejected', unknownMembers: 'rejected' };
/** A client ignores members and values that it does not know (docs/receiving-webhooks.md, docs/client.md). */
const client: Tolerance = { newValues: 'accepted', unknownMembers: 'accepted' };

/** The OpenAPI documents of two releases, in which the references of schemas are resolved. */
interface Releases {
  readonly released: Document;
  readonly current: Document;
}

/**
 * Compares the OpenAPI documents of two releases. Returns what breaks a client of the older one: a request
 * that is rejected now, or a response that lacks what was promised.
 */
export function httpBreaks(released: Document, current: Document): string[] {
  const releases = { released, current };
  const [releasedApi, currentApi] = [openApi.parse(released), openApi.parse(current)];
  const operations = Object.entries(releasedApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const after = currentApi.paths[path]?.[method];
      if (after === undefined) return [`${name} was removed`];
      return [
        ...parameterBreaks(releases, before, after),
        ...requestBodyBreaks(releases, before.requestBody, after.requestBody),
        ...responseBreaks(releases, before, after),
        ...scopeBreaks(before, after),
      ].map((found) => `${name}: ${found}`);
    }),
  );
  const webhooks = Object.entries(releasedApi.webhooks).flatMap(([event, { post: before }]) => {
    const after = currentApi.webhooks[event]?.post;
    if (after === undefined) return [`Webhook ${event} was removed`];
    return rejectionsByClient(releases, before.requestBody, after.requestBody).map(
      (found) => `Webhook ${event}: ${found}`,
    );
  });
  return [...operations, ...webhooks];
}

function parameterBreaks({ released, current }: Releases, before: Operation, after: Operation): string[] {
  const findIn = ({ parameters }: Operation, { name, in: location }: Parameter) =>
    parameters.find((candidate) => candidate.name === name && candidate.in === location);
  return [
    ...before.parameters.flatMap((sent) => {
      const accepted = findIn(after, sent);
      if (accepted === undefined) return [`parameter ${sent.name} was removed`];
      return rejections(
        { document: released, schema: sent.schema },
        { document: current, schema: accepted.schema },
        service,
      ).map((found) => `parameter ${sent.name}: ${found}`);
    }),
    ...after.parameters
      .filter((accepted) => accepted.required === true && findIn(before, accepted)?.required !== true)
      .map(({ name }) => `parameter ${name} is required now`),
  ];
}

function requestBodyBreaks(releases: Releases, before: Body | undefined, after: Body | undefined): string[] {
  const isRequiredNow = after?.required === true && before?.required !== true;
  return [
    ...(isRequiredNow ? ['a body is required now'] : []),
    ...rejectionsByService(releases, before, after).map((found) => `body: ${found}`),
  ];
}

function responseBreaks(releases: Releases, before: Operation, after: Operation): string[] {
  const isSuccess = (status: string): boolean => /^[23]/.test(status);
  const added = Object.keys(after.responses).filter(
    (status) => isSuccess(status) && before.responses[status] === undefined,
  );
  return [
    ...added.map((status) => `may respond with ${status} now`),
    ...Object.entries(before.responses).flatMap(([status, response]) => {
      const responseNow = after.responses[status];
      if (responseNow === undefined) return isSuccess(status) ? [`no longer responds with ${status}`] : [];
      return rejectionsByClient(
        releases,
        bodyOf(releases.released, response),
        bodyOf(releases.current, responseNow),
      ).map((found) => `response ${status}: ${found}`);
    }),
  ];
}

/** Compares what a client of the older release writes with what the current service reads. */
function rejectionsByService(
  { released, current }: Releases,
  before: Body | undefined,
  after: Body | undefined,
): string[] {
  return compareMediaTypes(before, after, (written, read) =>
    rejections({ document: released, schema: written }, { document: current, schema: read }, service),
  );
}

/** Compares what the current service writes with what a client of the older release reads. */
function rejectionsByClient(
  { released, current }: Releases,
  before: Body | undefined,
  after: Body | undefined,
): string[] {
  return compareMediaTypes(before, after, (read, written) =>
    rejections({ document: current, schema: written }, { document: released, schema: read }, client),
  );
}

/** Compares the schemas of each media type that a body had. */
function compareMediaTypes(
  before: Body | undefined,
  after: Body | undefined,
  compare: (before: unknown, after: unknown) => string[],
): string[] {
  return Object.entries(before?.content ?? {}).flatMap(([type, { schema }]) => {
    const now = after?.content?.[type];
    return now === undefined ? [`${type} was removed`] : compare(schema, now.schema);
  });
}

/** Returns the tokens that were sufficient, but no longer are. A scope set begins with its scheme. */
function scopeBreaks(before: Operation, after: Operation): string[] {
  const scopeSets = (security: Operation['security']): string[][] =>
    security.map((alternative) =>
      Object.entries(alternative).flatMap(([scheme, scopes]) => [scheme, ...scopes]),
    );
  const alternatives = scopeSets(after.security);
  if (alternatives.length === 0) return [];
  const sufficient = before.security.length === 0 ? [[]] : scopeSets(before.security);
  const insufficient = sufficient.filter(
    (scopes) => !alternatives.some((needed) => needed.every((scope) => scopes.includes(scope))),
  );
  return insufficient.map(
    (scopes) => `a token with ${scopes.slice(1).join(' ') || 'no scope'} is no longer sufficient`,
  );
}

/** Returns a response of an operation, or the shared response to which it refers. */
function bodyOf(document: Document, response: unknown): Body {
  const { $ref: reference } = z.looseObject({ $ref: z.string().optional() }).parse(response);
  return body.parse(reference === undefined ? response : referencedPart(document, reference));
}
