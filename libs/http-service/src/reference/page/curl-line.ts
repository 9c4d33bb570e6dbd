import type { DocumentedOperation } from '@fulfilment/api-reference';
import { exampleText } from './markdown.js';

export interface Place {
  readonly method: string;
  readonly path: string;
  readonly server: string;
}

/** A curl command for the operation, with its first examples. */
export function curlLine(operation: DocumentedOperation, { method, path, server }: Place): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    exampleText(
      parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example ?? name,
    ),
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, example }) => `${name}=${encodeURIComponent(exampleText(example))}`);
  const body = Object.values(requestBody?.content['application/json']?.examples ?? {})[0]?.value;
  const headers = parameters
    .filter(({ name, in: place }) => place === 'header' && name === 'idempotency-key')
    .map(({ name, example }) => `${name}: ${exampleText(example)}`);
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${server}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}'`,
    ...(security.length > 0 ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headers.map((header) => `-H '${header}'`),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ].join(' \\\n  ');
}
