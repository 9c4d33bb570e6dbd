import type { OperationDoc } from '@fulfilment/api-reference';
import { connectedAppsShape } from './connected-apps.shapes.js';
import { invalidMonthRange } from '../statistics/statistics.reference.js';
import { notVisible } from '../visibility/not-visible.js';

export const listConnectedApps = {
  id: 'listConnectedApps',
  tag: 'Statistics',
  summary: 'List connected apps with their orders and earnings',
  description: [
    'Returns the apps that people of the organisation have connected to the creator, and every app with orders or earnings in the range, the highest revenue first. Amounts are those of the',
    'statistics with the filter `app`. Orders count in the month (UTC) in which they were placed, amounts in the month in which they were paid or refunded. A new connection appears within seconds.',
  ].join(' '),
  response: { description: 'A page of apps.', shape: connectedAppsShape },
  errors: [notVisible('creator'), invalidMonthRange],
} satisfies OperationDoc<typeof connectedAppsShape>;
