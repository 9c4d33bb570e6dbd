import { STATUS_CODES } from 'node:http';
import type { Header, OpenApiDocument, Reference, Response } from './document.js';

type Components = Pick<OpenApiDocument['components'], 'headers' | 'responses'>;

const headersPrefix = '#/components/headers/';
const responsesPrefix = '#/components/responses/';

/**
 * Replaces headers, and responses that occur more than once, by references: changes `paths`, and returns the
 * referenced components. If headers or responses of one name differ, only the first becomes a component.
 */
export function extractComponents(paths: OpenApiDocument['paths']): Components {
  const headers: Record<string, Header> = {};
  const responses: Record<string, Response> = {};
  const occurrences = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ responses: byStatus }) =>
      Object.entries(byStatus).flatMap(([status, original]) => {
        if ('$ref' in original) return [];
        const response = shareHeaders(original, headers);
        byStatus[status] = response;
        return [{ byStatus, status, response }];
      }),
    );
  const groups = Map.groupBy(occurrences, ({ status, response }) => status + JSON.stringify(response));
  for (const equalResponses of groups.values()) {
    if (equalResponses.length === 1) continue;
    for (const { byStatus, status, response } of equalResponses) {
      const name = (STATUS_CODES[status] ?? status).replace(/\W/g, '');
      responses[name] ??= response; // another response of this status keeps its place in the operation
      if (isSame(responses[name], response)) byStatus[status] = { $ref: responsesPrefix + name };
    }
  }
  return { headers: sortByName(headers), responses: sortByName(responses) };
}

function shareHeaders({ headers = {}, ...response }: Response, known: Record<string, Header>): Response {
  const shared = Object.entries(headers).map(([name, header]) => {
    if ('$ref' in header) return [name, header] as const;
    known[name] ??= header;
    return [name, isSame(known[name], header) ? { $ref: headersPrefix + name } : header] as const;
  });
  return { ...response, headers: Object.fromEntries(shared) };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns a copy of a record, sorted by its names. */
export function sortByName<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Resolves a response that may be a reference. */
export function resolveResponse({ components }: OpenApiDocument, response: Response | Reference): Response {
  return '$ref' in response ? component(components.responses, response) : response;
}

/** Resolves a header that may be a reference. */
export function resolveHeader({ components }: OpenApiDocument, header: Header | Reference): Header {
  return '$ref' in header ? component(components.headers, header) : header;
}

function component<Component>(
  components: Readonly<Record<string, Component>>,
  { $ref }: Reference,
): Component {
  const found = components[$ref.replace(/^.*\//, '')];
  if (found === undefined) throw new Error(`The document has no ${$ref}.`);
  return found;
}
