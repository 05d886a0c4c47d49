import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { statePaths } from '../../../hack/devcluster/paths.ts';
import type { TrialRow } from '../../../src/api/report.ts';
import { LABELS, runLabel } from '../../../src/api/names.ts';
import type { RunCondition, RunStatus } from '../../../src/api/run-status.ts';
import type { TrialResource } from '../../../src/api/trial-resource.ts';
import { loadClusterAccess } from '../../../src/kube/config.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import type { Event, KubeObject, Pod } from '../../../src/kube/object.ts';
import { BENCHMARK_RUNS, EVENTS, PODS, TRIALS } from '../../../src/kube/resource.ts';
import { cli } from '../../support/cli.ts';

/** Namespace that `npm run devcluster -- install` puts the operator into. */
export const OPERATOR_NAMESPACE = 'clawbench-system';

/** A run as the API server holds it. */
export interface Run extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Record<string, unknown>;
  readonly status?: RunStatus;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program and returns however it ended. */
export async function command(
  program: string,
  args: readonly string[],
  input?: string,
): Promise<CommandResult> {
  return await new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 1 << 27 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input ?? '');
  });
}

/** The development cluster, as its user sees it. */
export class Cluster {
  readonly client: KubeClient;
  readonly #paths = statePaths();

  private constructor(client: KubeClient) {
    this.client = client;
  }

  static async open(): Promise<Cluster> {
    const access = await loadClusterAccess({ kubeconfig: statePaths().kubeconfig });
    return new Cluster(new KubeClient(access, { fieldManager: 'clawbench-e2e' }));
  }

  get kubeconfig(): string {
    return this.#paths.kubeconfig;
  }

  get auditLog(): string {
    return join(this.#paths.log, 'audit.log');
  }

  async kubectl(args: readonly string[], input?: string): Promise<CommandResult> {
    return await command(join(this.#paths.bin, 'kubectl'), ['--kubeconfig', this.kubeconfig, ...args], input);
  }

  /** `kubectl`, which must succeed. */
  async must(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async apply(namespace: string, object: object): Promise<CommandResult> {
    return await this.kubectl(['apply', '-n', namespace, '-f', '-'], JSON.stringify(object));
  }

  /** A namespace of one test; it is deleted by `dispose`. */
  async namespace(prefix: string, labels: Readonly<Record<string, string>> = {}): Promise<Namespace> {
    const name = `${prefix}-${randomBytes(3).toString('hex')}`;
    await this.must(
      ['apply', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
    );
    return new Namespace(this, name);
  }
}

/** The scenario of a test that does not care which. */
export const QUICK = 'change-board';

/** What a run file of the tests says where a test does not: the scripted runtime, one quick scenario, no pauses. */
export function runObject(name: string, spec: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: 'clawbench.dev/v1alpha1',
    kind: 'BenchmarkRun',
    metadata: { name },
    spec: {
      suite: { builtin: {}, scenarioIds: [QUICK] },
      runtime: { id: 'scripted' },
      trialsPerScenario: 1,
      timeouts: { settle: 0 },
      retry: { backoffSeconds: 0 },
      ...spec,
    },
  };
}

/** One namespace with the runs of a test. */
export class Namespace {
  readonly cluster: Cluster;
  readonly name: string;

  constructor(cluster: Cluster, name: string) {
    this.cluster = cluster;
    this.name = name;
  }

  /** `kubectl apply` of a run, which must be taken. */
  async run(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { code, stderr } = await this.cluster.apply(this.name, runObject(name, spec));
    if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
  }

  async getRun(name: string): Promise<Run> {
    return (await this.cluster.client.get(BENCHMARK_RUNS, { namespace: this.name, name })) as unknown as Run;
  }

  async patchRun(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    await this.cluster.client.patch(
      BENCHMARK_RUNS,
      { namespace: this.name, name },
      { type: 'merge', body: { spec } },
    );
  }

  async trials(run: string): Promise<TrialResource[]> {
    const { items } = await this.cluster.client.list(TRIALS, {
      namespace: this.name,
      labelSelector: `${LABELS.RUN}=${runLabel(run)}`,
    });
    return items as unknown as TrialResource[];
  }

  /** Pods of a run; with `trials`, only those of attempts. */
  async pods(run: string, trials = true): Promise<readonly Pod[]> {
    const selector = `${LABELS.RUN}=${runLabel(run)}${trials ? `,${LABELS.TRIAL}` : ''}`;
    return (await this.cluster.client.list(PODS, { namespace: this.name, labelSelector: selector })).items;
  }

  async events(): Promise<readonly Event[]> {
    return (await this.cluster.client.list(EVENTS, { namespace: this.name })).items;
  }

  /** Waits until `that` gives something; fails with what the cluster looked like. */
  async until<T>(what: string, that: () => Promise<T | null | undefined | false>, seconds = 120): Promise<T> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const got = await that();
      if (got !== null && got !== undefined && got !== false) return got;
      if (Date.now() > deadline)
        throw new Error(`${what}: not within ${seconds} s\n${await this.describe()}`);
      await delay(250);
    }
  }

  /** The run once it is Complete or Failed. */
  async ended(name: string, seconds = 180): Promise<Run> {
    return await this.until(
      `run ${name} ends`,
      async () => {
        const run = await this.getRun(name);
        return isTrue(run, 'Complete') || isTrue(run, 'Failed') ? run : null;
      },
      seconds,
    );
  }

  /** The run once `type` has `status`. */
  async condition(
    name: string,
    type: RunCondition['type'],
    status: RunCondition['status'],
    seconds = 120,
  ): Promise<RunCondition> {
    return await this.until(
      `condition ${type}=${status} of ${name}`,
      async () => {
        const found = conditionOf(await this.getRun(name), type);
        return found?.status === status ? found : null;
      },
      seconds,
    );
  }

  /** Copies the run's files out with the command that users have, and reads the rows of its report. */
  async rows(run: string): Promise<TrialRow[]> {
    const folder = await this.artifacts(run);
    try {
      const text = await readFile(join(folder, 'report', 'trials.jsonl'), 'utf8');
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as TrialRow);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** `clawbench artifacts RUN`; the folder is the caller's to remove. */
  async artifacts(run: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'clawbench-e2e-'));
    const { code, stderr } = await cli(
      ['artifacts', run, '-n', this.name, '--kubeconfig', this.cluster.kubeconfig, '-o', join(folder, 'run')],
      {},
    );
    if (code !== 0) throw new Error(`clawbench artifacts ended with code ${String(code)}: ${stderr}`);
    return join(folder, 'run');
  }

  /** What a person would look at when something is wrong. */
  async describe(): Promise<string> {
    const looks = [
      ['get', 'brun,trial,pod,job,pvc', '-o', 'wide'],
      ['get', 'brun', '-o', 'jsonpath={range .items[*]}{.metadata.name}: {.status}{"\\n"}{end}'],
      ['get', 'events', '--sort-by=.lastTimestamp'],
    ];
    const texts = await Promise.all(
      looks.map(async (look) => (await this.cluster.kubectl([...look, '-n', this.name])).stdout),
    );
    return texts.join('\n').slice(0, 20_000);
  }

  /** Deletes the namespace without waiting for its end. */
  async dispose(): Promise<void> {
    await this.cluster.kubectl(['delete', 'brun', '--all', '-n', this.name, '--timeout=60s']);
    await this.cluster.kubectl(['delete', 'namespace', this.name, '--wait=false']);
  }
}

export function conditionOf(run: Run, type: RunCondition['type']): RunCondition | undefined {
  return run.status?.conditions.find((condition) => condition.type === type);
}

export function isTrue(run: Run, type: RunCondition['type']): boolean {
  return conditionOf(run, type)?.status === 'True';
}
