import { callerScope } from './caller-scope.rules.js';

describe('callerScope', () => {
  it.each([
    ['global_admin', undefined, 'creator_api_operator', ''],
    ['global_admin', 'org_a', 'creator_api_operator', ''],
    ['owner', 'org_a', 'creator_api_member', 'org_a'],
    ['admin', 'org_a', 'creator_api_member', 'org_a'],
    ['member', 'org_a', 'creator_api_member', 'org_a'],
    ['owner', undefined, 'creator_api_member', ''],
    ['superuser', 'org_a', 'creator_api_member', ''],
    [undefined, 'org_a', 'creator_api_member', ''],
    [undefined, undefined, 'creator_api_member', ''],
  ])(
    'maps the role %p in the organisation %p to the database role %p for the organisation %p',
    (organisationRole, organisationId, role, sees) => {
      expect(callerScope({ organisationRole, organisationId })).toEqual({ role, organisationId: sees });
    },
  );
});
