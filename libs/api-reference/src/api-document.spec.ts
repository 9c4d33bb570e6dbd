import { NotFound } from '@fulfilment/error-envelope';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { z } from 'zod';
import { createApiDocument } from './api-document.js';
import { Description } from './field.js';
import type { OperationDoc } from './operation.js';
import type { Route } from './route.js';
import { resolveResponse } from './components.js';

const note = z
  .object({ text: z.string().describe('What it says') })
  .meta({ id: 'Note', description: 'A note.', examples: [{ text: 'Hello' }] });
const readNote: OperationDoc = {
  id: 'readNote',
  tag: 'Notes',
  summary: 'Read a note',
  path: { id: { description: 'The note', example: '1' } },
  response: { description: 'The note.', shape: note },
  errors: [{ when: 'There is none.', example: new NotFound('note') }],
};
const route: Route = {
  method: 'get',
  path: '/notes/{id}',
  status: 200,
  operation: readNote,
  access: {
    scopes: ['notes:read'],
    rateLimit: { quota: 'default', requests: 10, window_seconds: 60 },
  },
  headers: [],
};
class StatusDto {
  @Description('Which notes', 'open') @IsOptional() @IsIn(['open', 'done']) status: string = 'open';
}
class TextDto {
  @Description('Words', 'hello') @IsOptional() @IsString() search?: string;
}
const documentOf = (...changed: Partial<Route>[]) =>
  createApiDocument({
    api: 'store',
    info: { title: 'Notes', version: '1', summary: 'Notes.', description: 'Notes.' },
    scopes: { 'notes:read': 'Read notes' },
    services: changed.map((change) => ({
      tags: [{ name: 'Notes', description: 'Notes.' }],
      routes: [{ ...route, ...change }],
    })),
  });

describe('the document of an API', () => {
  it('lists the errors of access and quota of an operation, and the errors of its body if it has one', () => {
    const { responses = {} } = documentOf({}).paths['/notes/{id}']?.get ?? {};
    expect(Object.keys(responses)).toEqual(['200', '401', '403', '404', '429', '500', '503']);
    const withBody =
      documentOf({ method: 'post', bodyLimitBytes: 4096 }).paths['/notes/{id}']?.post?.responses ?? {};
    expect(Object.keys(withBody)).toEqual(expect.arrayContaining(['400', '413', '415']));
    expect(withBody['413']).toMatchObject({ description: 'The body is larger than 4 KiB.' });
  });

  it('has an example of a 400 about a parameter, and cannot be made if no parameter is suitable', () => {
    const { responses = {} } = documentOf({ query: StatusDto }).paths['/notes/{id}']?.get ?? {};
    const details = [{ field: 'status', reason: 'must be one of open, done' }];
    const examples = { validation_error: { value: { details } } };
    expect(responses['400']).toMatchObject({ content: { 'application/json': { examples } } });
    // A parameter of any text has no invalid value that could be an example.
    expect(() => documentOf({ query: TextDto })).toThrow('readNote documents a 400');
  });

  it('requires no token for a public operation, and lists no errors of access and quota', () => {
    const { security, responses } = documentOf({ access: 'public' }).paths['/notes/{id}']?.get ?? {};
    expect(security).toEqual([]);
    expect(Object.keys(responses ?? {})).toEqual(['200', '404', '500', '503']);
  });

  it.each([
    ['a path parameter without a description', { path: {} }, 'no description of {id}'],
    ['a path with a parameter but no documented 404', { errors: [] }, 'documents no 404'],
    [
      'a response without an example',
      { response: { description: 'It.', shape: z.object({ a: z.string() }) } },
      'a response without an example',
    ],
  ])('cannot be made of %s', (_name, changes, message) => {
    expect(() => documentOf({ operation: { ...readNote, ...changes } })).toThrow(message);
  });

  it('cannot be made of two operations at one path, or of two different schemas with one name', () => {
    expect(() => documentOf({}, { access: 'public' })).toThrow('There are two get /notes/{id}.');
    const other = z.object({ title: z.string() }).meta({ id: 'Note', examples: [{ title: 'Hello' }] });
    const response = { description: 'It.', shape: other };
    expect(() => documentOf({}, { method: 'put', operation: { ...readNote, response } })).toThrow(
      'There are two schemas Note.',
    );
  });

  it('turns responses that several operations share into components', () => {
    const document = documentOf({}, { path: '/other/{id}', operation: { ...readNote, id: 'readOther' } });
    const given = document.paths['/other/{id}']?.get?.responses['429'] ?? { $ref: '' };
    expect(given).toEqual({ $ref: '#/components/responses/TooManyRequests' });
    expect(resolveResponse(document, given).headers?.['Retry-After']).toEqual({
      $ref: '#/components/headers/Retry-After',
    });
  });
});
