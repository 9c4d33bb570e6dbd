import { NotFound } from '@fulfilment/error-envelope';
import { z } from 'zod';
import { apiDocument } from './api-document.js';
import { apiPart } from './api-part.js';
import type { OperationDoc } from './operation.js';
import type { Route } from './route.js';
import { responseOf } from './share.js';

const note = z
  .object({ text: z.string().describe('What it says') })
  .meta({ id: 'Note', description: 'A note.', examples: [{ text: 'Hello' }] });
const readNote: OperationDoc = {
  id: 'readNote',
  tag: 'Notes',
  summary: 'Read a note',
  path: { id: { description: 'The note', example: '1' } },
  answer: { description: 'The note.', shape: note },
  errors: [{ when: 'There is none.', example: new NotFound('note') }],
};
const route: Route = {
  method: 'get',
  path: '/notes/{id}',
  status: 200,
  operation: readNote,
  access: { scopes: ['notes:read'], quota: 'default' },
  headers: [],
};
const quotas = { default: { requests: 10, windowSeconds: 60 } };
const partOf = (changed: Partial<Route>) =>
  apiPart({
    api: 'store',
    tags: [{ name: 'Notes', description: 'Notes.' }],
    routes: [{ ...route, ...changed }],
    quotas,
  });
const documentOf = (...parts: ReturnType<typeof partOf>[]) =>
  apiDocument({
    info: { title: 'Notes', version: '1', summary: 'Notes.', description: 'Notes.' },
    prefix: 'notes',
    scopes: { 'notes:read': 'Read notes' },
    parts,
  });

describe('the document of an API', () => {
  it('lists the errors of access, quota and input for every operation', () => {
    const { responses = {} } = partOf({}).paths['/notes/{id}']?.get ?? {};
    expect(Object.keys(responses)).toEqual(['200', '401', '403', '404', '429', '500', '503']);
    const withBody =
      partOf({ method: 'post', bodyLimitBytes: 4096 }).paths['/notes/{id}']?.post?.responses ?? {};
    expect(Object.keys(withBody)).toEqual(expect.arrayContaining(['400', '413', '415']));
    expect(withBody['413']).toMatchObject({ description: 'The body is larger than 4 KiB.' });
  });

  it('requires no token for public operations', () => {
    const { security, responses } = partOf({ access: 'public' }).paths['/notes/{id}']?.get ?? {};
    expect(security).toEqual([]);
    expect(Object.keys(responses ?? {})).toEqual(['200', '404', '500', '503']);
  });

  it.each([
    ['a path parameter without a description', { operation: { ...readNote, path: {} } }],
    ['a path that may lead nowhere without a 404', { operation: { ...readNote, errors: [] } }],
    ['a quota that there is none of', { access: { scopes: [], quota: 'other' } }],
    [
      'a response without an example',
      { operation: { ...readNote, answer: { description: 'It.', shape: z.object({ a: z.string() }) } } },
    ],
  ] as const)('cannot be made of %s', (_what, changed) => {
    expect(() => partOf(changed)).toThrow();
  });

  it('rejects parts that define one name differently', () => {
    expect(() => documentOf(partOf({}), partOf({ access: 'public' }))).toThrow('two paths named /notes/{id}');
  });

  it('turns responses that several operations share into components', () => {
    const document = documentOf(
      partOf({}),
      partOf({ path: '/other/{id}', operation: { ...readNote, id: 'readOther' } }),
    );
    const given = document.paths['/other/{id}']?.get?.responses['429'] ?? { $ref: '' };
    expect(given).toEqual({ $ref: '#/components/responses/TooManyRequests' });
    expect(responseOf(document, given).headers?.['Retry-After']).toEqual({
      $ref: '#/components/headers/Retry-After',
    });
  });
});
