/** Rotates a RabbitMQ password as docs/runbook.md says, by the commands of docs/reference/permissions.md. */
import { eventually } from '@fulfilment/testing';
import { type ChannelModel, connect } from 'amqplib';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root, stateDir, suite } from '../suite/the-suite.js';

const run = promisify(execFile);
const programs = join(stateDir, 'rabbitmq');
const rabbitmqctl = join(programs, 'rabbitmqctl');
const service = 'webhook-worker';
const password = 'a-password-of-this-test';
const exchange = 'suite.facts';
const queue = `suite.${service}.password-test`;
const type = 'webhook.password_test';

/** Creates a user with the permissions of the service, by the commands of the reference. */
async function createUser(name: string): Promise<void> {
  const reference = readFileSync(join(root, 'docs', 'reference', 'permissions.md'), 'utf8');
  const [, commands = ''] = new RegExp(`### ${service}\n\n\`\`\`sh\n([^]*?)\`\`\``).exec(reference) ?? [];
  // add_user, set_permissions and set_topic_permissions
  expect(commands.match(/^rabbitmqctl /gm)).toHaveLength(3);
  const userCommands = commands.replaceAll(` ${service} `, ` ${name} `).replace('PASSWORD', password);
  await run('sh', ['-ec', userCommands], {
    env: { ...process.env, PATH: `${programs}:${process.env.PATH ?? ''}` },
  });
}

const deleteUser = (name: string) => run(rabbitmqctl, ['delete_user', name]);

function connectAs(name: string): Promise<ChannelModel> {
  const url = Object.assign(new URL(suite.dependencies.rabbitmq ?? ''), { username: name, password });
  return connect(url.href);
}

/** RabbitMQ in a container, or of another team, has no such script. */
const describeOwnBroker = existsSync(rabbitmqctl) ? describe : describe.skip;

describeOwnBroker('the rotation of a RabbitMQ password by a second user', () => {
  const [older, newer] = ['rotation-older', 'rotation-newer'];

  it('loses no message: both users publish and consume, then the first one is deleted', async () => {
    const consumed = new Set<string>();
    const administrator = await connect(suite.dependencies.rabbitmq ?? '');
    const otherService = await administrator.createConfirmChannel();
    /** A replica: consumes the queue, and publishes with confirmations. */
    const replica = async (user: string) => {
      const connection = await connectAs(user);
      const closed = new Promise((resolve) => connection.once('close', resolve));
      connection.on('error', () => undefined);
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      await channel.assertQueue(queue, { durable: true });
      await channel.consume(queue, (message) => {
        if (message === null) return;
        consumed.add(message.content.toString());
        channel.ack(message);
      });
      const publish = async (text: string): Promise<void> => {
        channel.publish(exchange, type, Buffer.from(text));
        await channel.waitForConfirms(); // rejects if it may not publish
        // No queue is bound to this type, so another service sends the text to the queue directly.
        otherService.sendToQueue(queue, Buffer.from(text));
        await otherService.waitForConfirms();
      };
      return { closed, publish, end: () => channel.deleteQueue(queue).then(() => connection.close()) };
    };

    await Promise.all([createUser(older), createUser(newer)]);
    const before = await replica(older);
    await before.publish('before');
    const after = await replica(newer);
    await Promise.all([before.publish('older'), after.publish('newer')]);
    await deleteUser(older);
    await before.closed;
    await expect(connectAs(older)).rejects.toThrow('ACCESS_REFUSED');
    await after.publish('after');
    const published = ['before', 'older', 'newer', 'after'];
    await eventually(() => published.every((text) => consumed.has(text)));
    await after.end();
    await administrator.close();
    await deleteUser(newer);
  });
});
