/** Information that an operator needs to upgrade a service from one release to the next. */
interface Upgrade {
  readonly version: string;
  /** Undefined for the first release. */
  readonly previous: string | undefined;
  /** Descriptions of the migrations that are new, in order. */
  readonly migrations: readonly string[];
  readonly settings: Changes;
  /** Of the whole suite: asyncapi.json does not name the services that send or read a message. */
  readonly messages: Changes;
}

export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Returns the section of UPGRADING.md for a release, in Markdown. */
export function upgradeNote({ version, previous, migrations, settings, messages }: Upgrade): string {
  if (previous === undefined)
    return `## ${version}\n\nThe first release. Run its migrations on an empty database.\n`;
  const lines = [
    ...(migrations.length === 0
      ? ['No migrations.']
      : [
          'Run the migrations before the new processes start:',
          '',
          ...migrations.map((migration) => `- ${migration}`),
        ]),
    ...section('New settings', settings.added),
    ...section('Removed settings, which are ignored now', settings.removed),
    ...section('New messages of the suite', messages.added),
    ...section('Messages of the suite that are no longer published or consumed', messages.removed),
  ];
  return `## ${version}\n\nFrom ${previous}. ${lines.join('\n')}\n`;
}

export function changes(before: readonly string[], after: readonly string[]): Changes {
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  };
}

/** Adds a section to UPGRADING.md, newest first, unless the version already has one. */
export function withNote(file: string | undefined, note: string): string {
  const title = '# Upgrading';
  const [heading] = note.split('\n');
  const earlier = (file ?? '').replace(title, '').trim();
  if (heading !== undefined && `\n${earlier}\n`.includes(`\n${heading}\n`)) return file ?? '';
  return `${[title, note.trimEnd(), ...(earlier === '' ? [] : [earlier])].join('\n\n')}\n`;
}

/** Returns the names of a service's settings in docs/reference/configuration.md. */
export function settingsOf(service: string, configuration: string): string[] {
  const [, fromService = ''] = configuration.split(`\n## ${service}\n`);
  const [table = ''] = fromService.split('\n## ');
  return [...table.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].flatMap(([, name]) => name ?? []);
}

/** Returns the file name of a migration, and the first sentence of its documentation if it has one. */
export function describeMigration(file: string, source: string): string {
  const [, comment] = /\/\*\*(.*?)\*\//s.exec(source) ?? [];
  const text = (comment ?? '')
    .replace(/^\s*\* ?/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const [, sentence] = /^(.*?\.)(?: |$)/.exec(text) ?? [];
  return sentence === undefined ? file : `${file}: ${sentence}`;
}

function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : ['', `${title}: ${entries.map((entry) => `\`${entry}\``).join(', ')}.`];
}
