import { statement } from '@fulfilment/database';
import { publicId } from '@fulfilment/contracts';
import { webhookStores, type WebhookStores } from '../webhook-worker.fixture.js';
import { startWorkerProcess, type WorkerProcess } from '../worker-process.fixture.js';
import { deliveryAudit, type DeliveryAudit } from './delivery-audit.fixture.js';

const eventCount = 2_000;
const kills = 5;
/** A lease of two seconds, so that what a dead process held is soon due again. */
const shortLeases = {
  WEBHOOK_RETRY_SCHEDULE_MS: '0,100,100,200,400,800',
  WEBHOOK_TIMEOUT_MS: '1000',
  WEBHOOK_LEASE_SLACK_MS: '1000',
};
const attemptsOf = statement(
  'test.attempts-of',
  `SELECT a.delivery_id, a.number, a.outcome, a.started_at, a.duration_ms FROM webhook_attempts a
   WHERE a.delivery_id = ANY($1::uuid[]) ORDER BY 1, 2`,
);

/** Processes that die, or stand still, where it hurts. Afterwards the books must balance. */
describe('of 2000 events nothing is lost and nothing renamed', () => {
  let stores: WebhookStores;
  let proof: DeliveryAudit;
  let started: WorkerProcess[];
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  beforeEach(() => {
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((process) => process.kill()));
    await proof.stop();
  });

  const start = async (environment: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> => {
    const process = await startWorkerProcess(stores, { ...shortLeases, ...environment });
    started.push(process);
    return process;
  };
  const startReady = async (environment: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> => {
    const process = await start(environment);
    await process.untilReady();
    return process;
  };

  it('while one of two replicas is killed between a POST and its settlement, again and again', async () => {
    const first = await startReady();
    const replicas = [first, await startReady()];
    proof = await deliveryAudit(stores, first);
    for (let round = 0; round < kills; round += 1) {
      const dying = replicas[round % 2];
      let posts = 0;
      // From the hundredth on, posts are answered only after the process is dead, which so never hears of its
      // own.
      proof.answerAfter(() => {
        posts += 1;
        return posts < 100 ? undefined : dying?.kill();
      });
      await proof.publish(eventCount / kills);
      expect(await dying?.ended).toBe('SIGKILL');
      proof.answerAfter(() => undefined);
      replicas[round % 2] = await start();
    }
    await proof.settled();
    await proof.expectNothingLost();
    expect(proof.unheard()).toBeGreaterThanOrEqual(kills);
  }, 90_000);

  it('when a process stands still for longer than its leases: it changes nothing of what others did meanwhile', async () => {
    const frozen = await startReady({ WEBHOOK_TIMEOUT_MS: '4000' }); // no attempt ends before all are in hand
    proof = await deliveryAudit(stores, frozen);
    const held: (() => void)[] = [];
    const inHand = new Set<string>();
    await proof.publish(eventCount - 300);
    await proof.untilWritten();
    const arriving = proof.untilMoreArrive(100);
    proof.answerAfter(({ headers }) => {
      inHand.add(String(headers['x-service-delivery']));
      return new Promise((resolve) => held.push(() => resolve(undefined)));
    });
    await proof.publish(200);
    await proof.untilWritten(); // else its unacknowledged messages would have to wait for RabbitMQ to give it up
    await arriving;
    frozen.signal('SIGSTOP');
    proof.answerAfter(() => undefined);
    for (const answer of held) answer(); // the answers wait in the sockets of the frozen process
    const other = await startReady();
    await proof.settled();
    const uuids = (await proof.rows())
      .filter(({ id }) => inHand.has(publicId('whd', id)))
      .map(({ id }) => id);
    expect(uuids.length).toBeGreaterThanOrEqual(99);
    const before = await stores.database.rows(attemptsOf, [uuids]);
    frozen.signal('SIGCONT');
    await other.kill();
    // Once it has settled these, it has settled what it was holding before.
    await proof.publish(100);
    await proof.settled();
    expect(await stores.database.rows(attemptsOf, [uuids])).toEqual(before);
    await proof.expectNothingLost();
  }, 90_000);
});
