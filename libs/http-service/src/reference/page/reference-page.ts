import type { OpenApiDocument } from '@fulfilment/api-reference';
import { html, Html } from '../../html.js';
import { examplesOf, operationSection, type PlacedOperation, webhookSection } from './operation-section.js';
import { memberTable, typeOf } from './schema-rows.js';
import { style } from './style.js';
import { anchor, inline, renderMarkdown } from './markdown.js';

const sheet = new Html(`<style>${style}</style>`);

/** The whole reference on one page without scripts, so that the browser's own search covers all of it. */
export function referencePage(document: OpenApiDocument): string {
  const { info, tags, components, servers } = document;
  const groups = tags.map((tag) => ({ ...tag, operations: operationsOf(document, tag.name) }));
  const events = Object.entries(document.webhooks ?? {}).flatMap(([name, { post }]) =>
    post === undefined ? [] : [{ name, operation: post }],
  );
  const page = html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title} reference</title>
        ${sheet}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <nav aria-label="Contents">
          <p class="brand"><a href="#content">${info.title}</a> <small>${info.version}</small></p>
          <details open>
            <summary>About</summary>
            <ul>
              ${headings(info.description).map((title) => link(anchor(title), html`${title}`))}
              ${link('authentication', html`Authentication`)}
            </ul>
          </details>
          ${groups.map(
            ({ name, operations }) =>
              html`<details open>
                <summary>${name}</summary>
                <ul>
                  ${operations.map(({ method, operation }) =>
                    link(
                      operation.operationId,
                      html`<span class="method ${method}">${method.toUpperCase()}</span>
                        ${operation.summary}`,
                    ),
                  )}
                </ul>
              </details>`,
          )}
          ${
            events.length === 0
              ? undefined
              : html`<details open>
                  <summary>Events</summary>
                  <ul>
                    ${events.map(({ name, operation }) => link(operation.operationId, html`${name}`))}
                  </ul>
                </details>`
          }
          <details>
            <summary>Schemas</summary>
            <ul>
              ${Object.keys(components.schemas).map((name) => link(`schema-${name}`, html`${name}`))}
            </ul>
          </details>
        </nav>
        <main id="content">
          <header>
            <h1>${info.title} <small>${info.version}</small></h1>
            <p>${inline(info.summary)}</p>
            <p>
              Base URL <code>${servers[0]?.url}</code>. This reference is also available as
              <a href="openapi.json">OpenAPI 3.1</a>.
            </p>
            ${renderMarkdown(info.description)}
            <section id="authentication">
              <h3>Authentication</h3>
              ${authentication(document)}
            </section>
          </header>
          ${groups.map(
            ({ name, description, operations }) =>
              html`<section aria-labelledby="tag-${anchor(name)}">
                <h2 id="tag-${anchor(name)}">${name}</h2>
                ${renderMarkdown(description)}
                ${operations.map((placed) => operationSection(placed, document))}
              </section>`,
          )}
          ${
            events.length === 0
              ? undefined
              : html`<section aria-labelledby="events">
                  <h2 id="events">Events</h2>
                  <p>The requests that are sent to the URL of a subscription.</p>
                  ${events.map(({ name, operation }) => webhookSection(name, operation, document))}
                </section>`
          }
          <section aria-labelledby="schemas">
            <h2 id="schemas">Schemas</h2>
            ${Object.entries(components.schemas).map(
              ([name, schema]) =>
                html`<article id="schema-${name}">
                  <h3>${name}<a class="anchor" href="#schema-${name}" aria-label="Link to ${name}">#</a></h3>
                  ${renderMarkdown(schema.description)}
                  ${schema.properties === undefined ? html`<p>${typeOf(schema)}</p>` : memberTable(schema, components.schemas, false)}
                  ${examplesOf(schema.examples === undefined ? undefined : { example: { value: schema.examples[0] } })}
                </article>`,
            )}
          </section>
        </main>
      </body>
    </html>`;
  return page.text;
}

function operationsOf({ paths }: OpenApiDocument, tag: string): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation.tags?.includes(tag) === true ? [{ method, path, operation }] : [],
    ),
  );
}

function headings(text: string): string[] {
  return [...text.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
}

function link(id: string, content: Html): Html {
  return html`<li><a href="#${id}">${content}</a></li>`;
}

function authentication({ components }: OpenApiDocument): Html[] {
  return Object.values(components.securitySchemes).map((scheme) => {
    if (scheme.type === 'http') return html`${renderMarkdown(scheme.description)}`;
    const { authorizationUrl, tokenUrl, scopes } = scheme.flows.authorizationCode;
    return html`${renderMarkdown(scheme.description)}
      <dl>
        <dt>Authorize</dt>
        <dd><code>${authorizationUrl}</code></dd>
        <dt>Token and refresh</dt>
        <dd><code>${tokenUrl}</code></dd>
      </dl>
      ${Object.keys(scopes).length === 0 ? undefined : scopeTable(scopes)}`;
  });
}

function scopeTable(scopes: Readonly<Record<string, string>>): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Scopes">
    <table>
      <thead>
        <tr>
          <th scope="col">Scope</th>
          <th scope="col">Grants</th>
        </tr>
      </thead>
      <tbody>
        ${Object.entries(scopes).map(
          ([scope, grants]) =>
            html`<tr>
              <th scope="row"><code>${scope}</code></th>
              <td>${grants}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
