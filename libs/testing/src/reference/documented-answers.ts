import {
  type DocumentedOperation,
  headerOf,
  methods,
  type OpenApiDocument,
  type Response,
  responseOf,
} from '@fulfilment/api-reference';
import { z } from 'zod';
import { SchemaJudge } from './schema-judge.js';

/** An answer as supertest has it. */
export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly text: string;
  readonly request: { readonly method: string; readonly url: string };
}

interface Place {
  readonly method: string;
  readonly pattern: RegExp;
  readonly operation: DocumentedOperation;
}

/** The gateway puts it on answers of its own. */
const gatewaysOwn = 'cache-control';

/** Holds every answer of an API against its document: status, content type, body, headers. */
export class DocumentedAnswers {
  /** What was wrong so far, for those who cannot be thrown at. */
  readonly faults: string[] = [];
  private readonly judge: SchemaJudge;
  private readonly places: readonly Place[];
  private readonly prefix: string;
  private readonly document: OpenApiDocument;

  /** @param prefix first segment of the API's paths, such as `/store` */
  constructor(document: OpenApiDocument, prefix: string) {
    this.document = document;
    this.prefix = prefix;
    this.judge = new SchemaJudge(document);
    this.places = Object.entries(document.paths).flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const operation = item[method];
        if (operation === undefined) return [];
        const whole = operation.servers === undefined ? `${prefix}${path}` : path;
        return [{ method, operation, pattern: new RegExp(`^${whole.replace(/\{\w+\}/g, '[^/]+')}$`) }];
      }),
    );
  }

  /** For supertest's `expect`. @throws Error when an answer of this API is not as documented */
  readonly check = (answer: GivenAnswer): void => {
    const faults = this.faultsOf(answer);
    this.faults.push(...faults);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  };

  private faultsOf(answer: GivenAnswer): string[] {
    const method = answer.request.method.toLowerCase();
    const { pathname } = new URL(answer.request.url, 'http://unused.example');
    const place = this.places.find((known) => known.method === method && known.pattern.test(pathname));
    const ours = pathname === this.prefix || pathname.startsWith(`${this.prefix}/`) || place !== undefined;
    if (!ours || method === 'options') return [];
    const faults = place === undefined ? this.nowhere(answer) : this.documented(answer, place.operation);
    return faults.map((fault) => `${method.toUpperCase()} ${pathname} answered ${answer.status}: ${fault}`);
  }

  /** What no operation answers is an error in the envelope. */
  private nowhere({ status, body }: GivenAnswer): string[] {
    if (status < 400) return ['no operation is documented there'];
    return this.judge.faults({ $ref: '#/components/schemas/Error' }, body);
  }

  private documented(answer: GivenAnswer, operation: DocumentedOperation): string[] {
    const given = operation.responses[String(answer.status)];
    if (given === undefined) return ['the status is not documented'];
    const response = responseOf(this.document, given);
    return [...this.headerFaults(answer, response), ...this.bodyFaults(answer, response)];
  }

  private bodyFaults({ headers, body, text }: GivenAnswer, { content }: Response): string[] {
    const type = z.string().default('').parse(headers['content-type']).split(';')[0] ?? '';
    if (content === undefined)
      return text === '' || text === undefined ? [] : ['a body came where none is documented'];
    const media = content[type];
    if (media === undefined) return [`it came as ${type}`];
    return this.judge.faults(media.schema, type === 'application/json' ? body : text);
  }

  private headerFaults({ headers }: GivenAnswer, response: Response): string[] {
    const documented = Object.entries(response.headers ?? {}).map(([name, header]) => ({
      name: name.toLowerCase(),
      header: headerOf(this.document, header),
    }));
    const names = new Set(documented.map(({ name }) => name));
    const undocumented = Object.keys(this.document.components.headers)
      .map((name) => name.toLowerCase())
      .filter((name) => name !== gatewaysOwn && headers[name] !== undefined && !names.has(name));
    return [
      ...undocumented.map((name) => `the header ${name} is not documented`),
      ...documented.flatMap(({ name, header }) => {
        const value = headers[name];
        if (value === undefined) return header.required === true ? [`the header ${name} is missing`] : [];
        return this.judge.faults(header.schema, value).map((fault) => `${name}: ${fault}`);
      }),
    ];
  }
}
