import type { Class } from './field.js';
import type { Method, Parameter } from './document.js';
import type { OperationDoc } from './operation.js';

/** The two APIs, by the first segment of their paths. */
export type Api = 'store' | 'creator';

/** A route as the code has it: read from a controller, or stated where a route is no controller's. */
export interface Route {
  readonly method: Method;
  /** Below the API's prefix, with `{name}` for parameters. */
  readonly path: string;
  /** Of success. */
  readonly status: number;
  readonly operation: OperationDoc;
  readonly access: 'public' | { readonly scopes: readonly string[]; readonly quota: string };
  /** The largest JSON body that is read; undefined when none is read. */
  readonly bodyLimitBytes?: number;
  /** Whether error responses have `Retry-After` only when the request had an `idempotency-key`. */
  readonly retryOnlyWithKey?: boolean;
  readonly body?: Class;
  readonly query?: Class;
  readonly params?: Class;
  /** Headers the handler takes. */
  readonly headers: readonly Parameter[];
  /** Of success, beyond JSON. */
  readonly contentType?: string;
  /** Headers of success that are the route's, not the operation's. */
  readonly answersWith?: readonly 'Cache-Control'[];
  /** Where it lies when that is not below the API's prefix. */
  readonly server?: string;
}
