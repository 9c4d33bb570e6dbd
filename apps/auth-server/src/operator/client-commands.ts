import { defineCommand } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeClientSecret } from '../registration/change-client-secret.js';
import { createClient, newClient, requireHttpsOfFirstParty } from '../registration/create-client.js';
import { deleteClient } from '../registration/delete-client.js';
import { listClients } from '../registration/list-clients.js';
import type { OperatorContext } from './operator-context.js';
import { pageSize } from './page-size.js';

const clientArgument = z.object({ CLIENT: z.string('is missing').min(1, 'must not be empty') });

/** Commands for OAuth clients, also those that registered themselves. */
export const clientCommands = {
  'client create': defineCommand({
    flags: {
      name: 'text',
      'redirect-uri': 'texts',
      'first-party': 'alone',
      confidential: 'alone',
      'resource-server': 'alone',
      id: 'text',
    },
    arguments: newClient,
    run: async ({ database, secrets, development }: OperatorContext, client) => {
      if (!development) requireHttpsOfFirstParty(client);
      return createClient(database, client, secrets);
    },
  }),
  'client list': defineCommand({
    flags: { limit: 'text', after: 'text' },
    arguments: z.object({ limit: pageSize, after: z.string().default('') }),
    run: ({ database }: OperatorContext, { after, limit }) => listClients(database, after, limit),
  }),
  'client secret': defineCommand({
    operands: ['CLIENT'],
    arguments: clientArgument,
    run: ({ database, secrets }: OperatorContext, { CLIENT }) =>
      changeClientSecret(database, CLIENT, secrets),
  }),
  'client delete': defineCommand({
    operands: ['CLIENT'],
    arguments: clientArgument,
    run: ({ database, outbox, publishRevoked }: OperatorContext, { CLIENT }) =>
      deleteClient(database, outbox, publishRevoked, CLIENT),
  }),
};
