import { expect, it } from '@jest/globals';
import { messages } from '@fulfilment/contracts';
import { systemClock } from '@fulfilment/runtime';
import { replayCreators } from './replay-creators.js';
import { serverWithOperator } from '../test/operator.js';

const given = serverWithOperator();

it('replayCreators yields the current state of every creator, page by page', async () => {
  const register = (name: string) =>
    given.operator.run('creator create', { organisation: 'org_harbour', name, 'payment-method': 'pm_ok' });
  for (const name of ['One', 'Two', 'Three']) await register(name);
  const { uuid } = await register('Four');
  await given.operator.run('creator change', { CREATOR: uuid, name: 'Fourth' });
  const published = [];
  for await (const page of replayCreators(given.server.database, systemClock, 2)) {
    expect(page.length).toBeLessThanOrEqual(2);
    published.push(...page);
  }
  const creators = published.flatMap((message) =>
    messages.replayCreator.is(message) ? [message.data.creator] : [],
  );
  expect(new Set(creators.map(({ id }) => id)).size).toBe(creators.length);
  expect(creators).toContainEqual(expect.objectContaining({ id: uuid, version: 2, name: 'Fourth' }));
  expect(creators.map(({ name }) => name)).toEqual(expect.arrayContaining(['One', 'Two', 'Three']));
});
