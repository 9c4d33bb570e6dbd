import { z } from 'zod';
import { describeRoute, type Quota } from './describe-route.js';
import { pathItemShape, type PathItem, tagShape } from './document.js';
import type { Api, Route } from './route.js';
import { type Schema, schemaShape } from './schema.js';

export const apiPartShape = z.strictObject({
  tags: z.array(tagShape),
  paths: z.record(z.string(), pathItemShape),
  webhooks: z.record(z.string(), pathItemShape),
  schemas: z.record(z.string(), schemaShape),
});
/** One service's part of an API's document. It is plain data, since it may come from another program. */
export type ApiPart = z.infer<typeof apiPartShape>;

export interface PartOptions {
  /** The API that it is a part of. */
  readonly api: Api;
  readonly tags: ApiPart['tags'];
  readonly routes: readonly Route[];
  readonly quotas: Readonly<Record<string, Quota>>;
  readonly webhooks?: ApiPart['webhooks'];
  /** Named schemas of the webhooks. */
  readonly schemas?: ApiPart['schemas'];
}

/** @throws Error when documentation is missing, or two shapes share a name */
export function apiPart({ api, tags, routes, quotas, webhooks = {}, schemas = {} }: PartOptions): ApiPart {
  const paths: Record<string, PathItem> = {};
  const named = new UniqueNames<Schema>('shapes');
  named.addAll(schemas);
  for (const route of routes) {
    const described = describeRoute(route, quotas, api);
    paths[route.path] = { ...paths[route.path], [route.method]: described.operation };
    named.addAll(described.schemas);
  }
  return { tags, paths, webhooks, schemas: named.sorted() };
}

/** Values by name. Adding an equal value under an existing name is allowed, a different one is not. */
export class UniqueNames<Thing> {
  private readonly things = new Map<string, Thing>();
  private readonly what: string;

  constructor(what: string) {
    this.what = what;
  }

  addAll(things: Readonly<Record<string, Thing>>): void {
    for (const [name, thing] of Object.entries(things)) {
      const known = this.things.get(name);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(thing)) {
        throw new Error(`There are two ${this.what} named ${name}.`);
      }
      this.things.set(name, thing);
    }
  }

  inOrder(): Record<string, Thing> {
    return Object.fromEntries(this.things);
  }

  sorted(): Record<string, Thing> {
    return Object.fromEntries([...this.things].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
