import { STATUS_CODES } from 'node:http';
import type {
  DocumentedOperation,
  Header,
  OpenApiDocument,
  PathItem,
  Reference,
  Response,
} from './document.js';

type Paths = OpenApiDocument['paths'];
type Shared = Pick<OpenApiDocument['components'], 'headers' | 'responses'>;

const headersAt = '#/components/headers/';
const responsesAt = '#/components/responses/';

/** Turns headers, and responses that occur more than once, into components. */
export function shareResponses(paths: Paths): { paths: Paths; components: Shared } {
  const headers = new Map<string, Header>();
  const withHeaders = mapResponses(paths, (_status, response) => shareHeaders(response, headers));
  const counts = new Map<string, number>();
  mapResponses(withHeaders, (status, response) => {
    const key = `${status} ${JSON.stringify(response)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return response;
  });
  const responses = new Map<string, Response>();
  const shared = mapResponses(withHeaders, (status, response) => {
    const name = (STATUS_CODES[status] ?? status).replace(/\W/g, '');
    const isFirst = !responses.has(name) || JSON.stringify(responses.get(name)) === JSON.stringify(response);
    if ((counts.get(`${status} ${JSON.stringify(response)}`) ?? 0) < 2 || !isFirst) return response;
    responses.set(name, response);
    return { $ref: `${responsesAt}${name}` };
  });
  return { paths: shared, components: { headers: sorted(headers), responses: sorted(responses) } };
}

function shareHeaders({ headers, ...response }: Response, known: Map<string, Header>): Response {
  if (headers === undefined) return response;
  const share = (name: string, header: Header | Reference): Header | Reference => {
    if ('$ref' in header) return header;
    const first = known.get(name) ?? header;
    known.set(name, first);
    return JSON.stringify(first) === JSON.stringify(header) ? { $ref: `${headersAt}${name}` } : header;
  };
  return {
    ...response,
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, share(name, header)])),
  };
}

function mapResponses(
  paths: Paths,
  change: (status: string, response: Response) => Response | Reference,
): Paths {
  const operation = (given: DocumentedOperation): DocumentedOperation => ({
    ...given,
    responses: Object.fromEntries(
      Object.entries(given.responses).map(([status, response]) => [
        status,
        '$ref' in response ? response : change(status, response),
      ]),
    ),
  });
  const item = (given: PathItem): PathItem =>
    Object.fromEntries(Object.entries(given).map(([method, it]) => [method, operation(it)]));
  return Object.fromEntries(Object.entries(paths).map(([path, given]) => [path, item(given)]));
}

function sorted<Thing>(things: ReadonlyMap<string, Thing>): Record<string, Thing> {
  return Object.fromEntries([...things].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Resolves a response that may be a reference. */
export function responseOf({ components }: OpenApiDocument, given: Response | Reference): Response {
  const response = '$ref' in given ? components.responses[given.$ref.slice(responsesAt.length)] : given;
  if (response === undefined) throw new Error('The document refers to a response that it does not have.');
  return response;
}

/** Resolves a header that may be a reference. */
export function headerOf({ components }: OpenApiDocument, given: Header | Reference): Header {
  const header = '$ref' in given ? components.headers[given.$ref.slice(headersAt.length)] : given;
  if (header === undefined) throw new Error('The document refers to a header that it does not have.');
  return header;
}
