import { changes, describeMigration, settingsOf, upgradeNote, withNote } from './upgrade-note.ts';

const none = { added: [], removed: [] };

describe('an upgrade note', () => {
  it('lists migrations, settings and messages that changed', () => {
    const note = upgradeNote({
      version: '1.1.0',
      previous: '1.0.0',
      migrations: ['0005-metadata.ts: Adds metadata to orders.'],
      settings: { added: ['FEED_MAX_WAIT_MS'], removed: ['OLD_LIMIT'] },
      messages: { added: ['order.held'], removed: ['order.paid'] },
    });
    expect(note).toBe(`## 1.1.0

From 1.0.0. Run the migrations before the new processes start:

- 0005-metadata.ts: Adds metadata to orders.

New settings: \`FEED_MAX_WAIT_MS\`.

Removed settings, which are ignored now: \`OLD_LIMIT\`.

New messages of the suite: \`order.held\`.

Messages of the suite that are no longer published or consumed: \`order.paid\`.
`);
  });

  it('says that a release has no migrations', () => {
    const note = upgradeNote({
      version: '1.0.1',
      previous: '1.0.0',
      migrations: [],
      settings: none,
      messages: none,
    });
    expect(note).toBe('## 1.0.1\n\nFrom 1.0.0. No migrations.\n');
  });

  it('requires an empty database for the first release', () => {
    const note = upgradeNote({
      version: '1.0.0',
      previous: undefined,
      migrations: ['0001-baseline.ts'],
      settings: none,
      messages: none,
    });
    expect(note).toBe('## 1.0.0\n\nThe first release. Run its migrations on an empty database.\n');
  });
});

describe('UPGRADING.md', () => {
  it('lists each release once, the newest first', () => {
    const first = withNote(undefined, '## 1.0.0\n\nFirst.\n');
    const second = withNote(first, '## 1.1.0\n\nSecond.\n');
    expect(second).toBe('# Upgrading\n\n## 1.1.0\n\nSecond.\n\n## 1.0.0\n\nFirst.\n');
    expect(withNote(second, '## 1.1.0\n\nSecond.\n')).toBe(second);
  });
});

describe('the sources of an upgrade note', () => {
  it('compares lists of names', () => {
    expect(changes(['A', 'B'], ['B', 'C'])).toEqual({ added: ['C'], removed: ['A'] });
  });

  it('reads the settings of one service', () => {
    const configuration =
      '\n## store-api\n\n| `HOST` | x | y |\n| `PORT` | x | y |\n\n## creator-api\n\n| `URL` | x | y |\n';
    expect(settingsOf('store-api', configuration)).toEqual(['HOST', 'PORT']);
    expect(settingsOf('creator-api', configuration)).toEqual(['URL']);
    expect(settingsOf('auth-server', configuration)).toEqual([]);
  });

  it('describes a migration by the first sentence of its documentation', () => {
    const source =
      '/**\n * The order or product that an event\n * is about. Null for test events.\n */\nexport class X {}';
    expect(describeMigration('0004-event-subject.ts', source)).toBe(
      '0004-event-subject.ts: The order or product that an event is about.',
    );
    expect(describeMigration('0005-x.ts', 'export class X {}')).toBe('0005-x.ts');
  });
});
