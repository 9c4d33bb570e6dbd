import type { Sql, Values } from '@fulfilment/database';
import { idsOf, runAudited } from './operator-audit.js';

describe('the record of an operator command', () => {
  it('contains ids from the output of the command, and never a secret or an e-mail address', () => {
    const output = {
      client_id: 'abc',
      client_secret: 'hush',
      user_id: 'a@b.example',
      kid: 'k',
      org_id: null,
      paid: 'x', // ends with "id", but is no id
    };
    expect(idsOf(output)).toEqual(['abc', 'k']);
  });

  it('is not `failed` when the command succeeded but its outcome could not be written', async () => {
    const updates: Values[] = [];
    const sql: Sql = {
      rows: () => Promise.resolve([]),
      row: () => Promise.resolve(undefined),
      run: (_statement, values = []) => {
        updates.push(values);
        return Promise.reject(new Error('connection lost'));
      },
    };
    const command = { name: 'order cancel', operands: [], options: [] };
    const running = runAudited(sql, 'ann', command, () => Promise.resolve({}));
    await expect(running).rejects.toThrow('connection lost');
    expect(updates).toEqual([[undefined, 'done', []]]);
  });
});
