import { z } from 'zod';

/** An error of the operation itself. Those of access, input and the server are added automatically. */
export interface ErrorDoc {
  /** A sentence with its cause. */
  readonly when: string;
  /** Thrown by the operation; it decides the status and the example of the response. */
  readonly example: Error;
}

export type ResponseHeader = 'Location' | 'Idempotent-Replayed' | 'Repr-Digest' | 'ETag';

/** Documentation that an operation's code does not contain: texts, examples, response shape and errors. */
export interface OperationDoc<Shape extends z.ZodType = z.ZodType> {
  /** Unique in the document; becomes the method's name in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Path parameters without a DTO, by name. */
  readonly path?: Readonly<Record<string, { description: string; example: string }>>;
  /** Headers that the handler reads by `@Headers(name)`, by name. */
  readonly headers?: Readonly<Record<string, { description: string; example: string }>>;
  readonly body?: Readonly<Record<string, { summary?: string; value: object }>>;
  readonly response: {
    readonly description: string;
    /** `z.void()` for no body. Its `examples` are shown unless the operation has its own. */
    readonly shape: Shape;
    /** Default: JSON. Other contents have no example. */
    readonly contentType?: 'text/csv' | 'text/event-stream';
    readonly headers?: readonly ResponseHeader[];
    /** Example of `Location`. Default: an order of the Store API. */
    readonly location?: string;
    readonly examples?: Readonly<Record<string, { summary?: string; value: z.input<Shape> }>>;
  };
  readonly errors?: readonly ErrorDoc[];
}

/** A body whose members are all readonly, as use cases return it. */
type Immutable<Body> = Body extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Body extends object
    ? { readonly [Member in keyof Body]: Immutable<Body[Member]> }
    : Body;

/** Return type of a handler: the documented body, alone or with headers. */
type HandlerResult<Body> = Promise<
  Body | { readonly body: Body; readonly headers: Readonly<Record<string, string>> }
>;

/** Shape of a body that the handler writes as text. It does not return the body, so no type is checked. */
export const textBody: z.ZodType = z.string();

const operations = new WeakMap<object, OperationDoc>();

/** Documents a handler. Its return type must match the documented shape. */
export function Operation<Shape extends z.ZodType>(doc: OperationDoc<Shape>) {
  return <Handler extends (...args: never[]) => HandlerResult<Immutable<z.output<Shape>>>>(
    _target: object,
    _name: string | symbol,
    handler: TypedPropertyDescriptor<Handler>,
  ): void => {
    if (handler.value !== undefined) operations.set(handler.value, doc);
  };
}

export function operationOf(handler: object): OperationDoc | undefined {
  return operations.get(handler);
}
