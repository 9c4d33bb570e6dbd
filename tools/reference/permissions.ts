import {
  brokerPermissions,
  factsExchangeOf,
  redisRules,
  type StoreUser,
  storeUsers,
} from '@fulfilment/contracts/permissions';

const namespace = 'suite';

/** The users of RabbitMQ and Redis, with the commands that create them. */
export function permissionsReference(): string {
  const exchange = factsExchangeOf(namespace);
  return `# Users of RabbitMQ and Redis

Each service has its own user in RabbitMQ and in Redis. A user can access only the queues and keys of its service (ADR 23). \`npm start\` and \`deploy/compose.yaml\` create these users.
In other environments, run the commands below with a different password for each user. Then set \`RABBITMQ_URL\` and \`REDIS_URL\` of the service to URLs with that user. If
\`RABBITMQ_NAMESPACE\` or \`WEBHOOK_QUEUE_PREFIX\` differs from its default, change the patterns accordingly.

## RabbitMQ

RabbitMQ 3.10 or later. Declare the exchange once, as an administrator. Services may not declare it, because the permission to declare an exchange includes the permission to delete it:

\`\`\`sh
rabbitmqadmin declare exchange --name ${exchange} --type topic --durable true # rabbitmqadmin 2
rabbitmqadmin declare exchange name=${exchange} type=topic durable=true # rabbitmqadmin 1
\`\`\`

${storeUsers.map((user) => brokerCommands(user)).join('\n')}
The user \`operator\` is for \`node dist/cli.js dead-letters …\`, \`orders republish\` and \`creators republish\`, and for operator commands that publish \`fulfilment.*\` and \`catalogue.*\`. Set a URL with
this user as \`RABBITMQ_URL\` of these programs, never of a service. A warehouse gets a separate user: [warehouses.md](../warehouses.md).

## Redis

Redis 7 or later.

\`\`\`
${storeUsers
  .filter((user) => user !== 'operator')
  .map((name) => `ACL SETUSER ${name} on >PASSWORD ${redisRules(name).join(' ')}`)
  .join('\n')}
\`\`\`
`;
}

function brokerCommands(user: StoreUser): string {
  const { configure, write, read, topicWrite, topicRead } = brokerPermissions(user, namespace);
  return `### ${user}

\`\`\`sh
rabbitmqctl add_user ${user} PASSWORD
rabbitmqctl set_permissions ${user} '${configure}' '${write}' '${read}'
rabbitmqctl set_topic_permissions ${user} ${factsExchangeOf(namespace)} '${topicWrite}' '${topicRead}'
\`\`\`
`;
}
