import { stableUuid } from './catalogue.ts';

const registeredAt = new Date(Date.UTC(2024, 0, 1));
const creator = (name: string) => ({ uuid: stableUuid(registeredAt, `creator:${name}`), name });

export const harbourLights = creator('Harbour Lights');
const glassMeridian = creator('Glass Meridian');
const slowFerry = creator('The Slow Ferry');

/** Organisations of the demo data, with their creators and users. The passwords are only for local use. */
export const organisations = [
  {
    id: 'org_harbour',
    name: 'Harbour Lights',
    creators: [harbourLights],
    users: [
      { email: 'owner@harbour.example', name: 'Robin Hale', password: 'harbour-owner-demo', role: 'owner' },
      { email: 'member@harbour.example', name: 'Sam Quay', password: 'harbour-member-demo', role: 'member' },
    ],
  },
  {
    id: 'org_meridian',
    name: 'Meridian Sound',
    creators: [glassMeridian, slowFerry],
    users: [
      { email: 'owner@meridian.example', name: 'Noor Vale', password: 'meridian-owner-demo', role: 'owner' },
    ],
  },
] as const;

/** The account that tools use by default: the owner of the first organisation. */
export const ownerEmail = organisations[0].users[0].email;

export const operator = {
  email: 'operator@platform.example',
  name: 'Alex Operator',
  password: 'platform-operator-demo',
} as const;

/** A redirect URI like that of a native app: auth-server accepts any loopback port (RFC 8252 §7.3). */
export const dashboardRedirect = 'http://127.0.0.1:8976/callback';
