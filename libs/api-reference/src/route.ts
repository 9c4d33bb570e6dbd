import type { Method, OpenApiDocument, Parameter, RateLimitPolicy, Tag } from './document.js';
import type { Class } from './field.js';
import type { OperationDoc } from './operation.js';
import type { Schemas } from './schema.js';

/** The two APIs, by the first segment of their paths. */
export type Api = 'store' | 'creator';

/** A route, which is read from a controller, or declared if it has no controller. */
export interface Route {
  readonly method: Method;
  /** Below the API's prefix, with `{name}` for parameters. */
  readonly path: string;
  /** Status of the success response. */
  readonly status: number;
  readonly operation: OperationDoc;
  readonly access: 'public' | { readonly scopes: readonly string[]; readonly rateLimit: RateLimitPolicy };
  /** Maximum size of the JSON body; undefined when none is read. */
  readonly bodyLimitBytes?: number;
  /** Whether error responses have `Retry-After` only when the request had an `idempotency-key`. */
  readonly retryOnlyWithKey?: boolean;
  /** DTOs of the body, the query and the path parameters, if the handler has them. */
  readonly body?: Class;
  readonly query?: Class;
  readonly params?: Class;
  /** Headers that the handler reads. */
  readonly headers: readonly Parameter[];
  /** Content type of the success response, if not JSON. */
  readonly contentType?: string;
  /** Additional headers of the success response. */
  readonly extraHeaders?: readonly 'Cache-Control'[];
  /** Base URL of a route that is outside the API's prefix. */
  readonly server?: string;
}

/** One service's part of the document of an API. */
export interface ServiceReference {
  readonly tags: readonly Tag[];
  readonly routes: readonly Route[];
  readonly webhooks?: OpenApiDocument['webhooks'];
  /** Named schemas of the webhooks. */
  readonly schemas?: Schemas;
}
