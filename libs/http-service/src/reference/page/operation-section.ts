import {
  type DocumentedOperation,
  type Example,
  type Header,
  headerOf,
  type OpenApiDocument,
  type Parameter,
  type Response,
  responseOf,
  type Schema,
} from '@fulfilment/api-reference';
import { html, type Html } from '../../html.js';
import { curlLine } from './curl-line.js';
import { meaning, memberTable, resolved, typeOf } from './schema-rows.js';
import { exampleText, inline, renderMarkdown } from './markdown.js';

export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** Section of an operation: parameters, body, responses and a curl command. */
export function operationSection(
  { method, path, operation }: PlacedOperation,
  document: OpenApiDocument,
): Html {
  const { schemas } = document.components;
  const server = (operation.servers ?? document.servers)[0]?.url ?? '';
  const body = operation.requestBody?.content['application/json'];
  return html`<article id="${operation.operationId}">
    <h3>
      ${operation.summary}<a
        class="anchor"
        href="#${operation.operationId}"
        aria-label="Link to ${operation.summary}"
        >#</a
      >
    </h3>
    <p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
    ${renderMarkdown(operation.description)} ${access(operation)}
    ${parameterTable(operation.parameters ?? [], document)}
    ${
      body === undefined
        ? undefined
        : html`<h4>
              Request body
              <small
                >${typeOf(body.schema)}${operation.requestBody?.required === true ? '' : ', optional'}</small
              >
            </h4>
            ${memberTable(body.schema, schemas, true)} ${examplesOf(body.examples)}`
    }
    <h4>Example request</h4>
    ${code(curlLine(operation, { method, path, server }))}
    <h4>Responses</h4>
    ${Object.entries(operation.responses).map(([status, response]) =>
      responseDetails(status, responseOf(document, response), document),
    )}
  </article>`;
}

/** Section of an event: the request to the subscriber's URL. */
export function webhookSection(
  name: string,
  operation: DocumentedOperation,
  document: OpenApiDocument,
): Html {
  const body = operation.requestBody?.content['application/json'];
  return html`<article id="${operation.operationId}">
    <h3>
      <code>${name}</code
      ><a class="anchor" href="#${operation.operationId}" aria-label="Link to ${name}">#</a>
    </h3>
    ${renderMarkdown(operation.description)}
    <details>
      <summary>Headers</summary>
      ${parameterTable(operation.parameters ?? [], document)}
    </details>
    ${body === undefined ? undefined : html`${memberTable(body.schema, document.components.schemas, true)} ${examplesOf(body.examples)}`}
    <details>
      <summary>Your response</summary>
      <ul>
        ${Object.entries(operation.responses).map(([status, response]) => html`<li><b>${status}</b> ${inline(responseOf(document, response).description)}</li>`)}
      </ul>
    </details>
  </article>`;
}

function access({ security = [], 'x-rate-limit': limit }: DocumentedOperation): Html {
  const scopes = security.flatMap((scheme) => Object.values(scheme).flat());
  const needs =
    security.length === 0
      ? html`no access token`
      : scopes.length === 0
        ? html`an access token`
        : html`an access token with the scope ${scopes.map((scope) => html`<code>${scope}</code> `)}`;
  const counted =
    limit === undefined
      ? html`no`
      : html`quota <code>${limit.quota}</code>: ${limit.requests} requests per ${limit.window_seconds} s by
          default`;
  return html`<dl>
    <dt>Requires</dt>
    <dd>${needs}</dd>
    <dt>Rate limited</dt>
    <dd>${counted}</dd>
  </dl>`;
}

function parameterTable(parameters: readonly Parameter[], { components }: OpenApiDocument): Html | undefined {
  if (parameters.length === 0) return undefined;
  return html`<h4>Parameters</h4>
    ${table(
      ['Name', 'In', 'Type', 'Meaning'],
      parameters.map((parameter) => parameterRow(parameter, parameter.in, components.schemas)),
    )}`;
}

function parameterRow(
  given: Header & { name: string },
  place: string | undefined,
  schemas: Readonly<Record<string, Schema>>,
): Html {
  const schema = { ...given.schema, description: given.description };
  return html`<tr>
    <th scope="row">
      <code>${given.name}</code> ${given.required === true ? undefined : html`<small>optional</small>`}
    </th>
    ${place === undefined ? undefined : html`<td>${place}</td>`}
    <td>${typeOf(schema)}</td>
    <td>
      ${meaning(schema, schemas)}${given.example === undefined ? undefined : html` <span class="note">example <code>${exampleText(given.example)}</code></span>`}
    </td>
  </tr>`;
}

function responseDetails(status: string, response: Response, document: OpenApiDocument): Html {
  const { components } = document;
  const [media] = Object.values(response.content ?? {});
  const success = status.startsWith('2');
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) =>
    parameterRow({ name, ...headerOf(document, header) }, undefined, components.schemas),
  );
  const schema = media?.schema.allOf?.[0] ?? media?.schema;
  return html`<details class="answer" ${success ? 'open' : ''}>
    <summary>
      <span class="status ${success ? 'good' : 'bad'}">${status}</span>
      ${inline(response.description.split('\n\n')[0] ?? '')}
    </summary>
    ${renderMarkdown(response.description.split('\n\n').slice(1).join('\n\n'))}
    ${schema === undefined ? undefined : html`<p>Body: ${typeOf(schema)}</p>`}
    ${success && schema !== undefined && resolved(schema, components.schemas).properties !== undefined ? memberTable(schema, components.schemas, true) : undefined}
    ${examplesOf(media?.examples)}
    <details>
      <summary>Headers</summary>
      ${table(['Header', 'Type', 'Meaning'], headers)}
    </details>
  </details>`;
}

function table(heads: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads[0]}">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Examples in their JSON form. */
export function examplesOf(examples: Readonly<Record<string, Example>> | undefined): Html[] {
  return Object.values(examples ?? {}).map(
    ({ summary, value }) =>
      html`<figure>
        ${summary === undefined ? undefined : html`<figcaption>${inline(summary)}</figcaption>`}
        ${code(JSON.stringify(value, null, 2))}
      </figure>`,
  );
}

function code(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}
