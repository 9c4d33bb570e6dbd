import { referredName, type Schema, type Schemas } from '@fulfilment/api-reference';
import { html, type Html } from '../../html.js';
import { inline } from './markdown.js';

/** A table of an object's members. `deep` also shows the members of nested objects. */
export function memberTable(schema: Schema, schemas: Schemas, deep: boolean): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Members">
    <table>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${memberRows(schema, schemas, deep, '')}
      </tbody>
    </table>
  </div>`;
}

function memberRows(schema: Schema, schemas: Schemas, deep: boolean, path: string): Html[] {
  const { properties = {}, required = [] } = resolved(schema, schemas);
  return Object.entries(properties).flatMap(([name, member]) => [
    html`<tr>
      <th scope="row">
        <code><span class="soft">${path}</span>${name}</code>
        ${required.includes(name) ? undefined : html`<small>optional</small>`}
      </th>
      <td>${typeOf(member)}</td>
      <td>${meaning(member, schemas)}</td>
    </tr>`,
    ...(deep ? inside(member, schemas, `${path}${name}`) : []),
  ]);
}

function inside(member: Schema, schemas: Schemas, path: string): Html[] {
  const schema = resolved(notNull(member), schemas);
  if (schema.items !== undefined) return memberRows(schema.items, schemas, true, `${path}[].`);
  return memberRows(schema, schemas, true, `${path}.`);
}

/** Resolves a reference, and keeps the keywords next to `$ref`. */
export function resolved(schema: Schema, schemas: Schemas): Schema {
  return { ...schemas[referredName(schema) ?? ''], ...schema };
}

function notNull(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
}

/** Description of a type, with a link if it has a name. */
export function typeOf(schema: Schema): Html {
  const nullable = schema.anyOf?.some(({ type }) => type === 'null') ?? false;
  const inner = notNull(schema);
  return html`${plainType(inner)}${nullable ? ' or null' : ''}`;
}

function plainType(schema: Schema): Html {
  const name = referredName(schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.items !== undefined) return html`array of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object' && schema.properties === undefined) {
    return html`object of ${typeOf(schema.additionalProperties)}`;
  }
  return html`${[schema.type ?? 'any'].flat().join(' or ')}${schema.format === undefined ? '' : ` (${schema.format})`}`;
}

/** Description and bounds of a member. */
export function meaning(member: Schema, schemas: Schemas): Html {
  const inner = notNull(member);
  const text = member.description ?? inner.description ?? resolved(inner, schemas).description ?? '';
  const notes = [...bounds(inner), ...(inner.items === undefined ? [] : bounds(inner.items))];
  return html`${inline(text)}${notes.map((note) => html` <span class="note">${note}</span>`)}`;
}

function bounds(schema: Schema): Html[] {
  const { enum: values, minimum, maximum, pattern, default: byDefault } = schema;
  return [
    ...(values === undefined ? [] : [html`one of ${codes(values)}`]),
    ...span(minimum, maximum, ''),
    ...span(schema.minLength, schema.maxLength, ' characters'),
    ...span(schema.minItems, schema.maxItems, ' items'),
    ...(pattern === undefined ? [] : [patternNote(pattern)]),
    ...(byDefault === undefined ? [] : [html`default <code>${JSON.stringify(byDefault)}</code>`]),
  ];
}

function patternNote(pattern: string): Html {
  return pattern.includes(String.raw`\u2028`)
    ? html`<abbr title="${pattern}">text without control characters</abbr>`
    : html`pattern <code>${pattern}</code>`;
}

function codes(values: readonly unknown[]): Html[] {
  return values.map((value, index) => html`${index > 0 ? ', ' : ''}<code>${String(value)}</code>`);
}

function span(min: number | undefined, max: number | undefined, unit: string): Html[] {
  if (min === undefined && max === undefined) return [];
  if (min === undefined) return [html`at most ${max}${unit}`];
  return max === undefined ? [html`at least ${min}${unit}`] : [html`${min} to ${max}${unit}`];
}
