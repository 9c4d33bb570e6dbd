import { defineCommand, limitArgument, textArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeClientSecret } from '../registration/change-client-secret.js';
import {
  createClient,
  createClientOptions,
  requireHttpsForFirstParty,
} from '../registration/create-client.js';
import { deleteClient } from '../registration/delete-client.js';
import { listClients } from '../registration/list-clients.js';
import type { OperatorContext } from './operator-context.js';

const clientArgument = z.object({ CLIENT: textArgument() });

/** Commands for OAuth clients, including those that registered themselves. */
export const clientCommands = {
  'client create': defineCommand({
    summary:
      'creates an OAuth client; with --resource-server, a confidential client that may introspect the access tokens of all clients',
    options: [
      '--name <NAME>',
      '--redirect-uri <URI...>',
      '--first-party',
      '--confidential',
      '--resource-server',
      '--id <ID>',
    ],
    arguments: createClientOptions,
    run: async ({ database, secrets, hasLoopbackUrl }: OperatorContext, client) => {
      if (!hasLoopbackUrl) requireHttpsForFirstParty(client);
      return createClient(database, client, secrets);
    },
  }),
  'client list': defineCommand({
    summary: 'lists clients',
    options: ['--limit <NUMBER>', '--after <CLIENT>'],
    arguments: z.object({ limit: limitArgument(), after: z.string().default('') }),
    run: ({ database }: OperatorContext, { after, limit }) => listClients(database, after, limit),
  }),
  'client secret': defineCommand({
    summary: 'replaces the secret of a confidential client; the old one stops working, tokens stay valid',
    operands: ['CLIENT'],
    arguments: clientArgument,
    run: ({ database, secrets }: OperatorContext, { CLIENT }) =>
      changeClientSecret(database, CLIENT, secrets),
  }),
  'client delete': defineCommand({
    summary: 'deletes a client with its tokens and webhook subscriptions',
    operands: ['CLIENT'],
    arguments: clientArgument,
    run: ({ database, outbox, publishRevoked }: OperatorContext, { CLIENT }) =>
      deleteClient(database, outbox, publishRevoked, CLIENT),
  }),
};
