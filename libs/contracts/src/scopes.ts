/** Identity scopes (OpenID Connect Core §3.1.2.1, §5.4, §11), with their descriptions on the consent page. */
export const identityScopes = {
  openid: 'Confirm your identity',
  profile: 'See your basic profile',
  email: 'See your e-mail address',
  offline_access: 'Keep access while you are away',
} as const;

/** Scopes of the Store API. None implies another. */
export const storeScopes = {
  'creator:read': 'Read the connected creator profile',
  'releases:read': 'Read releases and their products',
  'releases:write': 'Create, update and delete releases',
  'orders:read': 'Read fulfilment orders',
  'orders:create': 'Place fulfilment orders',
  'orders:cancel': 'Cancel fulfilment orders before they ship',
  'shipping:read': 'Quote shipping rates and read the service catalogue',
  'webhooks:read': 'Read webhook subscriptions and delivery history',
  'webhooks:create': 'Create webhook subscriptions',
  'webhooks:update': 'Update webhook subscriptions, send test events, and retry or recover deliveries',
  'webhooks:delete': 'Delete webhook subscriptions',
} as const;

export type StoreScope = keyof typeof storeScopes;
