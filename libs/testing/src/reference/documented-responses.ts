import {
  type DocumentedOperation,
  resolveHeader,
  type OpenApiDocument,
  operationsOf,
  type Response,
  resolveResponse,
} from '@fulfilment/api-reference';
import { z } from 'zod';
import { SchemaValidator } from './schema-validator.js';

/** A response of supertest. */
export interface ActualResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** Undefined for a binary body. */
  readonly text: string | undefined;
  readonly request: { readonly method: string; readonly url: string };
}

interface DocumentedRoute {
  readonly method: string;
  readonly pattern: RegExp;
  readonly operation: DocumentedOperation;
}

/** A header that a service may also set where it is not documented. */
const optionalHeader = 'cache-control';

/** Checks responses of an API against its document: status, content type, body, headers. */
export class DocumentedResponses {
  /** All violations so far, for callers that cannot catch exceptions. */
  readonly violations: string[] = [];
  private readonly validator: SchemaValidator;
  private readonly routes: readonly DocumentedRoute[];
  private readonly prefix: string;
  private readonly document: OpenApiDocument;

  /** @param prefix first segment of the API's paths, such as `/store` */
  constructor(document: OpenApiDocument, prefix: string) {
    this.document = document;
    this.prefix = prefix;
    this.validator = new SchemaValidator(document);
    this.routes = operationsOf(document).map(({ method, path, operation }) => {
      const whole = operation.servers === undefined ? `${prefix}${path}` : path;
      return { method, operation, pattern: new RegExp(`^${whole.replace(/\{\w+\}/g, '[^/]+')}$`) };
    });
  }

  /** Argument of supertest's `expect`. @throws Error when a response of this API is not as documented */
  readonly check = (response: ActualResponse): void => {
    const violations = this.findViolations(response);
    this.violations.push(...violations);
    if (violations.length > 0) throw new Error(violations.join('\n'));
  };

  private findViolations(response: ActualResponse): string[] {
    const method = response.request.method.toLowerCase();
    const { pathname } = new URL(response.request.url, 'http://unused.example');
    const route = this.routes.find((known) => known.method === method && known.pattern.test(pathname));
    const isOfThisApi =
      pathname === this.prefix || pathname.startsWith(`${this.prefix}/`) || route !== undefined;
    if (!isOfThisApi || method === 'options') return [];
    const violations =
      route === undefined
        ? this.violationsWithoutOperation(response)
        : this.violationsOf(response, route.operation);
    return violations.map(
      (violation) => `${method.toUpperCase()} ${pathname} responded ${response.status}: ${violation}`,
    );
  }

  /** Without an operation at its path, a response must be an error in the envelope. */
  private violationsWithoutOperation({ status, body }: ActualResponse): string[] {
    if (status < 400) return ['no operation is documented at this method and path'];
    return this.validator.violations({ $ref: '#/components/schemas/Error' }, body);
  }

  private violationsOf(actual: ActualResponse, operation: DocumentedOperation): string[] {
    const documented = operation.responses[String(actual.status)];
    if (documented === undefined) return ['the status is not documented'];
    const response = resolveResponse(this.document, documented);
    return [...this.headerViolations(actual, response), ...this.bodyViolations(actual, response)];
  }

  private bodyViolations({ headers, body, text }: ActualResponse, { content }: Response): string[] {
    const type = z.string().default('').parse(headers['content-type']).split(';')[0] ?? '';
    if (content === undefined)
      return text === '' || text === undefined ? [] : ['it has a body, but none is documented'];
    const media = content[type];
    if (media === undefined) return [`the content type ${type} is not documented`];
    return this.validator.violations(media.schema, type === 'application/json' ? body : text);
  }

  private headerViolations({ headers }: ActualResponse, response: Response): string[] {
    const documented = Object.entries(response.headers ?? {}).map(([name, header]) => ({
      name: name.toLowerCase(),
      header: resolveHeader(this.document, header),
    }));
    const names = new Set(documented.map(({ name }) => name));
    const undocumented = Object.keys(this.document.components.headers)
      .map((name) => name.toLowerCase())
      .filter((name) => name !== optionalHeader && headers[name] !== undefined && !names.has(name));
    return [
      ...undocumented.map((name) => `the header ${name} is not documented`),
      ...documented.flatMap(({ name, header }) => {
        const value = headers[name];
        if (value === undefined) return header.required === true ? [`the header ${name} is missing`] : [];
        return this.validator.violations(header.schema, value).map((violation) => `${name}: ${violation}`);
      }),
    ];
  }
}
