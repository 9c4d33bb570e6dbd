import { Command, InvalidArgumentError, Option } from 'commander';
import { webhookEventNames } from '@fulfilment/client/webhooks';
import { readFileSync } from 'node:fs';
import { applyWebhooks } from './webhooks/apply-webhooks.js';
import { completionScript, shells } from './completion.js';
import { listen, type ListenOptions } from './listen/listen.js';
import { openBrowser } from './open-browser.js';
import { operatorIn } from './operator.js';
import { login, logout, openStore, openSuite } from './session/session.js';
import { type Terminal, UsageError } from './terminal.js';
import { trigger } from './trigger.js';
import { parseWebhooksFile } from './webhooks/webhooks-file.js';

/** The parts of the process that the commands use. */
export interface Host {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the person stops the program. */
  readonly signal: AbortSignal;
  /** Registers a function to call each time the person presses `r`. */
  readonly registerResend: (resend: () => void) => void;
}

const helpFooter = `
Exit statuses: 0 done, 1 failed, 2 invalid command line or file, 3 sign in first.
If the suite has its own certificate authority, set NODE_EXTRA_CA_CERTS=ca.pem.`;

interface SuiteOptions {
  readonly url: string;
  readonly token?: string;
}

/** Returns the program with all its commands. For an invalid command line, it throws a CommanderError. */
export function createProgram(host: Host): Command {
  const { terminal } = host;
  const program = new Command('fulfilment')
    .description('Listens to events of a fulfilment suite, triggers them, and applies webhook subscriptions.')
    .addHelpText('after', helpFooter)
    .configureOutput({
      writeOut: (text) => terminal.result(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
    })
    .exitOverride();
  addSessionCommands(program, host);
  addListen(program, host);
  addTrigger(program, host);
  addWebhooks(program, host);
  addCompletion(program, host);
  return program;
}

function addSessionCommands(program: Command, { terminal, environment, signal }: Host): void {
  suiteCommand(program, 'login', 'signs in by the browser, and keeps the session')
    .option('--no-browser', 'only print the address to open')
    .action(async ({ url, browser }: SuiteOptions & { browser: boolean }) => {
      const open = (address: string): void => {
        terminal.note(`Sign in at ${address}`);
        if (browser) openBrowser(address);
      };
      await login(openSuite(url, environment), open, signal);
      terminal.note('Signed in.');
    });

  suiteCommand(program, 'logout', 'ends the session').action(async ({ url }: SuiteOptions) => {
    const ended = await logout(openSuite(url, environment));
    terminal.note(ended ? 'Signed out.' : 'You were not signed in.');
  });
}

function addListen(program: Command, { terminal, environment, signal, registerResend }: Host): void {
  storeCommand(program, 'listen', 'prints the events of the creator, and forwards them to a receiver')
    .option('--forward-to <url>', 'send each event to this URL, as a signed delivery', parseUrl)
    .option(
      '--events <names>',
      'only these events, separated by commas, such as order.*,product.in_stock',
      parseList,
      [],
    )
    .addOption(
      new Option('--from <position>', 'where to begin; saved: after the last page of events that was handled')
        .choices(['saved', 'now', 'oldest'])
        .default('saved'),
    )
    .option('--name <name>', 'name of this listener, which has a position of its own', parseName, 'default')
    .option('--secret <secret>', 'secret of the signatures; by default one that is created once and kept')
    .addHelpText('after', '\nr sends the last event again, Ctrl-C stops.')
    .action((options: SuiteOptions & ListenOptions) =>
      listen(openSuite(options.url, environment), options, terminal, { signal, registerResend }),
    );
}

function addTrigger(program: Command, { terminal, environment, signal }: Host): void {
  storeCommand(program, 'trigger', 'triggers events by changes of real orders and products')
    .argument('<events...>', webhookEventNames.join(', '))
    .option('--product <id>', 'product to order or to change')
    .addOption(
      new Option(
        '--clone <folder>',
        'clone that runs a development suite; required for order.payment_failed, product.* and shipments of a live creator',
      ).env('FULFILMENT_CLONE'),
    )
    .action(
      async (
        events: string[],
        options: SuiteOptions & { product?: string; clone?: string; json: boolean },
      ) => {
        const client = openStore(openSuite(options.url, environment), options.token);
        const operate = options.clone === undefined ? undefined : operatorIn(options.clone);
        const { product, json } = options;
        await trigger(events, { client, operate, product }, terminal, { json, signal });
      },
    );
}

function addWebhooks(program: Command, { terminal, environment, signal }: Host): void {
  const webhooks = program.command('webhooks').description('manages webhook subscriptions');
  storeCommand(webhooks, 'apply', 'creates and updates subscriptions as a YAML file describes them')
    .argument('<file>', 'see docs/client.md')
    .option('--dry-run', 'only print the plan', false)
    .option('--delete', 'delete the subscriptions of this app that are not in the file', false)
    .action(
      async (file: string, options: SuiteOptions & { dryRun: boolean; delete: boolean; json: boolean }) => {
        const wanted = parseWebhooksFile(readInputFile(file), environment);
        const client = openStore(openSuite(options.url, environment), options.token);
        const { dryRun, delete: deletes, json } = options;
        await applyWebhooks(client, wanted, { dryRun, deletes, json, signal }, terminal);
      },
    );
}

function addCompletion(program: Command, { terminal }: Host): void {
  program
    .command('completion')
    .description('prints a completion script: source <(fulfilment completion bash)')
    .addArgument(program.createArgument('<shell>', '').choices(shells))
    .action((shell: (typeof shells)[number]) =>
      terminal.result(completionScript(program, shell, webhookEventNames)),
    );
}

/** Adds a command that uses a suite. */
function suiteCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(
      new Option('--url <url>', 'URL of the suite')
        .env('FULFILMENT_URL')
        .default('https://localhost:8443')
        .argParser(parseUrl),
    );
}

/** Adds a command that calls the Store API and prints results. */
function storeCommand(parent: Command, name: string, description: string): Command {
  return suiteCommand(parent, name, description)
    .addOption(new Option('--token <token>', 'access token, instead of a login').env('FULFILMENT_TOKEN'))
    .option('--json', 'print one line of JSON for each result', false);
}

function readInputFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError('It must be a URL with http or https.');
}

function parseList(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}

function parseName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,50}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 50 letters, digits, - and _.');
}
