import { z } from 'zod';
import { App } from '../test/app.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { selectAuditRecords } from './read-audit-log.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const pageSchema = z.object({
  events: z.array(
    z.object({
      at: z.iso.datetime(),
      event: z.string(),
      user_id: z.string().nullable(),
      email: z.string().nullable(),
      client_id: z.string().nullable(),
      ip: z.string().nullable(),
      user_agent: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  before: z.string().nullable(),
});
const audit = async (options: Readonly<Record<string, unknown>>) =>
  pageSchema.parse(await runCommand('audit', options));
const run = (text: string) => server.database.run(testStatement(text));

describe('the operator command audit', () => {
  it('prints the records of a user, a client or an event, the newest last, with address and user agent', async () => {
    const app = await App.register(server);
    await app.signIn('orders:read', { email: 'owner@harbour.example' });
    const { events } = await audit({ user: 'OWNER@harbour.example' });
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['user_created', 'signed_in', 'consent_given']),
    );
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort());
    expect(events.find(({ event }) => event === 'signed_in')).toMatchObject({
      user_id: server.users.harbourOwner.user_id,
      email: 'owner@harbour.example',
      client_id: app.clientId,
      ip: expect.stringMatching(/127\.0\.0\.1|::1/),
      user_agent: expect.any(String),
    });
    const ofClient = (await audit({ client: app.clientId })).events;
    expect(new Set(ofClient.map(({ client_id }) => client_id))).toEqual(new Set([app.clientId]));
    const signIns = (await audit({ event: 'signed_in', user: server.users.harbourOwner.user_id })).events;
    expect(new Set(signIns.map(({ event }) => event))).toEqual(new Set(['signed_in']));
  });

  describe('with 50 records, ten for each second', () => {
    const numbersOf = ({ events }: z.infer<typeof pageSchema>) =>
      events.map(({ details }) => details['number']);
    beforeAll(() =>
      run(
        `INSERT INTO audit_log (at, event, client_id, details)
         SELECT timestamptz '2020-01-01 00:00Z' + (number / 10) * interval '1 second', 'code_issued', 'paged', jsonb_build_object('number', number)
         FROM generate_series(0, 49) AS number`,
      ),
    );

    it('prints each record on exactly one page', async () => {
      const numbers: unknown[] = [];
      let before: string | undefined;
      do {
        const page = await audit({
          client: 'paged',
          limit: '7',
          ...(before === undefined ? {} : { before }),
        });
        numbers.unshift(...numbersOf(page));
        before = page.before ?? undefined;
      } while (before !== undefined);
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, number) => number));
    });

    it('prints the records of a time span, without its end', async () => {
      const seconds1And2 = { since: '2020-01-01T00:00:01Z', until: '2020-01-01T00:00:03Z' };
      expect(numbersOf(await audit({ client: 'paged', ...seconds1And2 }))).toEqual(
        Array.from({ length: 20 }, (_, index) => 10 + index),
      );
      expect(numbersOf(await audit({ client: 'paged', since: '2h' }))).toEqual([]);
    });
  });

  it.each([
    [{ event: 'nonsense' }, 'must be one of signed_in'],
    [{ since: 'yesterday' }, 'must be an ISO 8601 time'],
    [{ limit: '0' }, 'must be a whole number from 1 to 1000'],
    [{ limit: '1001' }, 'must be a whole number from 1 to 1000'],
    [{ before: 'x' }, 'must be the `before` of an earlier page'],
    [{ user: 'nobody@no.example' }, 'The user nobody@no.example does not exist.'],
  ])('rejects the options %j', async (options, message) => {
    await expect(audit(options)).rejects.toThrow(message);
  });

  it('uses an index for each filter', async () => {
    await run(
      `INSERT INTO audit_log (at, event, user_id, client_id)
       SELECT timestamptz '2021-01-01 00:00Z' + number * interval '1 second', 'code_issued',
         ('00000000-0000-7000-8000-' || lpad((number % 500)::text, 12, '0'))::uuid, 'client-' || number % 100
       FROM generate_series(1, 20000) AS number`,
    );
    await run('ANALYZE audit_log');
    // PostgreSQL plans a statement without a name at each execution, with the actual values.
    const explain = { ...selectAuditRecords, name: '', text: `EXPLAIN ${selectAuditRecords.text}` };
    const noFilter = Object.fromEntries(
      selectAuditRecords.parameters?.map((name) => [name, undefined]) ?? [],
    );
    // The keys are the indexes of the partition audit_log_earlier, which contains these records.
    const filters = {
      audit_log_earlier_at_position_idx: { since: '2021-01-01T02:00Z' },
      audit_log_earlier_event_at_position_idx: { event: 'keys_rotated' },
      audit_log_earlier_user_id_at_position_idx: { user: '00000000-0000-7000-8000-000000000007' },
      audit_log_earlier_client_id_at_position_idx: { client: 'client-7' },
    };
    for (const [index, filter] of Object.entries(filters)) {
      const plan = await server.database.rows<{ 'QUERY PLAN': string }>(explain, {
        ...noFilter,
        ...filter,
        max_rows: 101, // the default limit, and one row that shows whether more follow
      });
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(text).toContain(index);
      expect(text).not.toContain('Seq Scan on audit_log');
    }
  });
});
