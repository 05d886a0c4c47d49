import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ensurePrograms } from '../../hack/devcluster/build/go-build.ts';

const run = promisify(execFile);

/** The chart of the repository. */
export const CHART = join(import.meta.dirname, '..', '..', 'charts', 'clawbench-operator');

/** An object of a rendered chart. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** The real helm with files of its own. */
export class Helm {
  readonly #program: string;
  readonly #home: string;

  private constructor(program: string, home: string) {
    this.#program = program;
    this.#home = home;
  }

  static async start(): Promise<Helm> {
    const programs = await ensurePrograms(['helm'], (line) => process.stderr.write(`${line}\n`));
    const home = await mkdtemp(join(tmpdir(), 'clawbench-helm-'));
    return new Helm(programs.path('helm', 'helm'), home);
  }

  /** Standard output of `helm ...`; what it says on standard error is the error's message. */
  async run(args: readonly string[], kubeconfig = '/dev/null'): Promise<string> {
    const env = {
      ...{ HOME: this.#home, PATH: process.env['PATH'], KUBECONFIG: kubeconfig },
      ...{ HELM_CACHE_HOME: this.#home, HELM_CONFIG_HOME: this.#home, HELM_DATA_HOME: this.#home },
    };
    const { stdout } = await run(this.#program, args, { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  /** The chart's objects under some values (`--set` words). */
  async template(namespace: string, set: readonly string[] = []): Promise<Rendered[]> {
    const values = set.flatMap((value) => ['--set', value]);
    const text = await this.run(['template', 'clawbench', CHART, '-n', namespace, ...values]);
    return parseAllDocuments(text, { version: '1.1' })
      .map((document) => {
        if (document.errors.length > 0) throw document.errors[0] ?? new Error('not YAML');
        return document.toJS() as Rendered | null;
      })
      .filter((object) => object !== null);
  }

  async stop(): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }
}
