import { Reflector } from '@nestjs/core';
import { accessRulesOf } from './access-rules.js';

class NotesController {}
function list(): void {}

describe('accessRulesOf', () => {
  it('rejects a route without a decorator for its access, with an error that names the route', () => {
    expect(() => accessRulesOf(new Reflector(), [list, NotesController])).toThrow(
      'The route list of NotesController needs @Scopes(), @NoScopes() or @Public().',
    );
  });
});
