import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessResult } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import type { Engine } from './engine.ts';

const projectDirectory = join(root, 'deploy');

/** A separate Compose project of deploy/compose.yaml and verify.compose.yaml. */
export class ComposeProject {
  private readonly engine: Engine;
  private readonly directory = mkdtempSync(join(tmpdir(), 'compose-project-'));
  private readonly options: readonly string[];
  private readonly settings: Readonly<Record<string, string>>;

  constructor(engine: Engine, project: string, settings: Readonly<Record<string, string>>) {
    this.engine = engine;
    this.settings = settings;
    const files = [
      join(projectDirectory, 'compose.yaml'),
      join(root, 'tools', 'images', 'verify.compose.yaml'),
    ];
    const copies = files.map((file, index) => {
      const copy = join(this.directory, `${index}.yaml`);
      // Compose 1, which Debian has, rejects the top-level element `name`. `--project-name` replaces it.
      writeFileSync(copy, readFileSync(file, 'utf8').replace(/^name: .*$/m, ''));
      return copy;
    });
    const projectOptions = ['--project-name', project, '--project-directory', projectDirectory];
    this.options = ['compose', ...projectOptions, ...copies.flatMap((copy) => ['--file', copy])];
  }

  run(args: readonly string[]): Promise<ProcessResult> {
    return this.engine.docker([...this.options, ...args], { env: this.settings });
  }

  runOrThrow(args: readonly string[]): Promise<string> {
    return this.engine.dockerOrThrow([...this.options, ...args], { env: this.settings });
  }

  /** The command line to which an operator command is appended, and the environment that it needs. */
  operatorCommand(service: string): {
    readonly line: string[];
    readonly environment: Record<string, string>;
  } {
    const { program, environment } = this.engine;
    const forwarded = ['-e', 'OPERATOR', '-e', 'CLI_PROGRAM'];
    const defined = Object.entries({ ...environment, ...this.settings }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return {
      line: [program, ...this.options, 'run', '--rm', '-T', '--no-deps', ...forwarded, `${service}-cli`],
      environment: Object.fromEntries(defined),
    };
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
