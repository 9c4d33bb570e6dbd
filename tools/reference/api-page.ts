import {
  type DocumentedOperation,
  errorCodeOf,
  type Example,
  resolveHeader,
  type OpenApiDocument,
  operationsOf,
  type OperationAtPath,
  resolveResponse,
} from '@fulfilment/api-reference';
import { anchor, escapeMarkup, fence, heading, table } from './markdown.ts';
import { fieldTable, notes, typeName } from './schema-table.ts';

/** The reference of an API as Markdown. The services render it as HTML. */
export function apiPage(document: OpenApiDocument): string {
  const { info, tags, components, servers, webhooks = {} } = document;
  const events = Object.values(webhooks).flatMap(({ post }) => post ?? []);
  const body = blocks([
    `# ${escapeMarkup(info.title)} ${info.version}`,
    escapeMarkup(info.summary),
    `Base URL: \`${servers[0]?.url}\`. This reference is also available as [OpenAPI 3.1](${servers[0]?.url}/openapi.json).`,
    heading(2, 'about', 'About'),
    escapeMarkup(info.description).replaceAll(/^### (.+)$/gm, (_, title: string) =>
      heading(3, anchor(title), title),
    ),
    ...authentication(document),
    heading(3, 'response-headers', 'Response headers'),
    table(
      ['Header', 'Type', 'Notes'],
      Object.entries(components.headers).map(([name, { description, schema }]) => [
        `\`${name}\``,
        typeName(schema),
        notes({ ...schema, description }, { isRequired: true }),
      ]),
    ),
    ...tags.flatMap(({ name, description }) => [
      heading(2, `tag-${anchor(name)}`, name),
      escapeMarkup(description),
      ...operationsOf(document)
        .filter(({ operation }) => operation.tags?.includes(name))
        .flatMap((operation) => operationSection(operation, document)),
    ]),
    ...eventSections(events, document),
    heading(2, 'schemas', 'Schemas'),
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [
      heading(3, `schema-${name}`, name),
      escapeMarkup(schema.description ?? ''),
      fieldTable(schema),
      ...examples(schema.examples === undefined ? {} : { example: { value: schema.examples[0] } }),
    ]),
  ]);
  // The headings, as `heading` writes them.
  const contents = [...body.matchAll(/^(##+) <a id="(\S+)" .*?>(.+)<\/a>$/gm)].map(
    ([, marks = '', id, title]) => `${'  '.repeat(marks.length - 2)}- [${title}](#${id})`,
  );
  return blocks(['<nav aria-label="Contents">', contents.join('\n'), '</nav>', '<main>', body, '</main>']);
}

function blocks(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function authentication({ components }: OpenApiDocument): string[] {
  return Object.values(components.securitySchemes).flatMap(({ description, flows }) => {
    const { authorizationUrl, tokenUrl, scopes } = flows.authorizationCode;
    return [
      heading(3, 'authentication', 'Authentication'),
      escapeMarkup(description),
      `Authorization endpoint: \`${authorizationUrl}\`. Token endpoint: \`${tokenUrl}\`.`,
      table(
        ['Scope', 'Grants'],
        Object.entries(scopes).map(([scope, grants]) => [`\`${scope}\``, grants]),
      ),
    ];
  });
}

function operationSection({ method, path, operation }: OperationAtPath, document: OpenApiDocument): string[] {
  const { requestBody, responses } = operation;
  const url = `${(operation.servers ?? document.servers)[0]?.url}${path}`;
  const body = requestBody?.content['application/json'];
  // An operation without examples of a body still gets one command.
  const bodies: readonly Example[] = body?.examples ? Object.values(body.examples) : [{ value: undefined }];
  return [
    heading(3, operation.operationId, operation.summary),
    `**${method.toUpperCase()}** \`${path}\``,
    escapeMarkup(operation.description ?? ''),
    access(operation),
    parameterTable(operation),
    body === undefined
      ? ''
      : `Body: ${typeName(body.schema)}${requestBody?.required === true ? '' : ' (optional)'}`,
    ...bodies.flatMap(({ summary = 'Request', value }) => [
      `${escapeMarkup(summary)}:`,
      fence('sh', curlCommand(operation, method, url, value)),
    ]),
    responseTable(operation, document),
    ...Object.entries(responses).flatMap(([status, response]) => {
      const media = resolveResponse(document, response).content?.['application/json'];
      if (!status.startsWith('2') || media === undefined) return [];
      return [fieldTable(media.schema), ...examples(media.examples)];
    }),
  ];
}

/** The sections of events. All events have the headers and responses of the first one. */
function eventSections(events: readonly DocumentedOperation[], document: OpenApiDocument): string[] {
  const [first] = events;
  if (first === undefined) return [];
  return [
    heading(2, 'events', 'Webhook requests'),
    'The requests that are sent to the URL of a subscription, with these headers:',
    parameterTable(first),
    'Your response:',
    responseTable(first, document),
    ...events.flatMap(({ operationId, summary, description = '', requestBody }) => {
      const body = requestBody?.content['application/json'];
      return [
        heading(3, operationId, summary),
        escapeMarkup(description),
        fieldTable(body?.schema ?? {}),
        ...examples(body?.examples),
      ];
    }),
  ];
}

function access({ security = [], 'x-rate-limit': limit }: DocumentedOperation): string {
  if (limit === undefined) return 'Requires no access token and has no rate limit.';
  const scopes = security.flatMap((scheme) => Object.values(scheme).flat()).map((scope) => `\`${scope}\``);
  const scope = scopes.length === 0 ? '' : ` with the scope ${scopes.join(' ')}`;
  return (
    `Requires an access token${scope}. ` +
    `Quota \`${limit.quota}\`: ${limit.requests} requests per ${limit.window_seconds} s by default.`
  );
}

function parameterTable({ parameters = [] }: DocumentedOperation): string {
  return table(
    ['Parameter', 'In', 'Type', 'Notes'],
    parameters.map(({ name, in: location, schema, description, required = false, example }) => [
      `\`${name}\``,
      location,
      typeName(schema),
      `${notes({ ...schema, description }, { isRequired: required })}${example === undefined ? '' : `; example \`${exampleText(example)}\``}`,
    ]),
  );
}

function responseTable({ responses }: DocumentedOperation, document: OpenApiDocument): string {
  return table(
    ['Response', 'Body', 'Meaning', 'Headers'],
    Object.entries(responses).map(([status, response]) => {
      const { description, content = {}, headers = {} } = resolveResponse(document, response);
      const [schema] = Object.values(content).map((media) => media.schema);
      const code = schema && errorCodeOf(schema);
      const names = Object.entries(headers).map(
        ([name, header]) =>
          `\`${name}\`${resolveHeader(document, header).required === true ? '' : ' (optional)'}`,
      );
      const type = schema === undefined ? '' : typeName(schema);
      return [status, code === undefined ? type : `\`${code}\``, description, names.join(', ')];
    }),
  );
}

function examples(examplesByName: Readonly<Record<string, Example>> = {}): string[] {
  return Object.values(examplesByName).flatMap(({ summary = 'Example', value }) => [
    `${escapeMarkup(summary)}:`,
    fence('json', JSON.stringify(value, null, 2)),
  ]);
}

/** A curl command with the examples of the required parameters and of the idempotency key. */
function curlCommand(operation: DocumentedOperation, method: string, url: string, body: unknown): string {
  const { parameters = [], security = [] } = operation;
  const parametersIn = (location: string) =>
    parameters.filter(
      ({ name, in: actual, required }) =>
        actual === location && (required === true || name === 'idempotency-key'),
    );
  const filled = parametersIn('path').reduce(
    (path, { name, example }) => path.replace(`{${name}}`, exampleText(example)),
    url,
  );
  const query = parametersIn('query').map(
    ({ name, example }) => `${name}=${encodeURIComponent(exampleText(example))}`,
  );
  const json = JSON.stringify(body, null, 2)?.replaceAll("'", String.raw`'\''`);
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${[filled, ...query].join('?')}'`,
    ...(security.length > 0 ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...parametersIn('header').map(({ name, example }) => `-H '${name}: ${exampleText(example)}'`),
    ...(json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${json}'`]),
  ].join(' \\\n  ');
}

/** An example of a parameter in its text form. */
function exampleText(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}
