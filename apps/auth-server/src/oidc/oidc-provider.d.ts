import type { AdapterPayload } from 'oidc-provider';
import type { Person } from '../users/read-accounts.js';

/** Members of oidc-provider that its types do not have, and members that we add to its models. */
declare module 'oidc-provider' {
  interface Account {
    /** Set by find-account.ts. */
    person?: Person;
  }
  interface Grant {
    /** The connected creator (authorization/grants.ts). */
    creatorId?: string;
    /** Replaced at each change of the person's role; undefined until the first (tokens/families.ts). */
    roleVersion?: string;
  }
  interface AccessToken {
    /** Digest of the signed token (access-tokens/access-tokens.ts). */
    digest?: string;
    getValueAndPayload: (this: AccessToken) => Promise<{ value: string; payload: AdapterPayload }>;
  }
  interface Session {
    destroyed?: boolean;
  }
}
