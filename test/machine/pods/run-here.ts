import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ATTEMPT_SCHEMA_VERSION, type AttemptResult } from '../../../src/api/attempt.ts';
import {
  API_VERSION,
  benchmarkRunSpecSchema,
  type BenchmarkRunSpec,
} from '../../../src/api/benchmark-run.ts';
import type { Round } from '../../../src/api/container-requests.ts';
import { readIndex } from '../../../src/api/index-config-map.ts';
import { LABELS, runLabel } from '../../../src/api/names.ts';
import { ENV, MOUNTS } from '../../../src/api/pod-contract.ts';
import { runLayout } from '../../../src/api/run-layout.ts';
import type { RunRecord } from '../../../src/api/run.ts';
import type { TrialRecord } from '../../../src/api/trial.ts';
import { trialStatusSchema, type TrialResource } from '../../../src/api/trial-resource.ts';
import { agentLimits } from '../../../src/attempt/agent-limits.ts';
import { classifyAttempt } from '../../../src/attempt/failure-class.ts';
import { nextStep } from '../../../src/attempt/retry.ts';
import { attemptEnded, attemptStarted, newTrial, trialExecuted } from '../../../src/attempt/trial-state.ts';
import { resolveTimeouts } from '../../../src/api/timeouts.ts';
import { freezeRun } from '../../../src/pods/prepare/freeze-run.ts';
import { publishIndex } from '../../../src/pods/prepare/publish-index.ts';
import { publishRound } from '../../../src/pods/score-round/publish-round.ts';
import { scoreRound } from '../../../src/pods/score-round/score-round.ts';
import { readSuiteIndex } from '../../../src/suite/frozen.ts';
import { FakeApi } from '../../support/fake-api.ts';
import { PodHere } from './pod-here.ts';

export const UID = 'run-uid';
export const RUN = { runName: 'mixed', runUID: UID, namespace: 'here' };

/**
 * A run as a cluster goes through it, with the real programs of its pods, and with this class in the place of
 * controller and API server.
 */
export class RunHere {
  readonly root: string;
  readonly api = new FakeApi();
  readonly layout;
  readonly spec: BenchmarkRunSpec;
  readonly log: string[] = [];

  constructor(root: string, spec: Record<string, unknown>) {
    this.root = root;
    this.spec = benchmarkRunSpecSchema.parse(spec);
    this.layout = runLayout(join(root, 'volume', UID));
    this.api.put('benchmarkruns', {
      apiVersion: API_VERSION,
      kind: 'BenchmarkRun',
      metadata: { name: RUN.runName, namespace: RUN.namespace, uid: UID },
      spec: this.spec,
      status: { provenance: { host: 'node-1', runtimeImageDigest: 'sha256:abc', isolation: 'container' } },
    });
  }

  /** Environment of one container, with the mounts that it has. */
  async env(name: string, request: object): Promise<Record<string, string>> {
    const root = join(this.root, 'containers', name);
    for (const path of Object.values(MOUNTS)) await mkdir(join(root, path), { recursive: true });
    return {
      [ENV.REQUEST]: JSON.stringify(request),
      [ENV.MOUNT_ROOT]: root,
      [ENV.TERMINATION_LOG]: join(root, 'termination-log'),
    };
  }

  async prepare(suite: { suitePath: string | null; archive: boolean } = { suitePath: null, archive: false }) {
    const env = await this.env('prepare', {
      ...RUN,
      createdAt: '2026-01-01T00:00:00Z',
      spec: this.spec,
      ...suite,
    });
    await mountAt(join(env[ENV.MOUNT_ROOT] ?? '', MOUNTS.volume), join(this.root, 'volume'));
    const frozen = await freezeRun(env);
    await publishIndex({ ...env, [ENV.REQUEST]: JSON.stringify(RUN) }, this.api.client);
    return frozen;
  }

  /** What the controller reads of the index. */
  index() {
    const parts = [...this.api.objects]
      .filter(([key]) => key.startsWith('configmaps/'))
      .map(([, one]) => one);
    return readIndex(parts);
  }

  /** Runs a trial to its end: attempts, classes, retries; the Trial then stands in the API as Executed. */
  async execute(scenarioId: string, number: number): Promise<void> {
    const index = await readSuiteIndex(this.layout.suite);
    const entry = index.scenarios.find(({ id }) => id === scenarioId);
    if (entry === undefined) throw new Error(scenarioId);
    const { timeouts } = resolveTimeouts(this.spec.timeouts, { turn: entry.turn ?? undefined });
    const limits = agentLimits(this.spec);
    const run: Pick<RunRecord, 'name' | 'uid'> = { name: RUN.runName, uid: UID };
    let trial = newTrial(run, entry, number, timeouts);
    for (;;) {
      const begun = attemptStarted(
        trial,
        `pod-${trial.name}-${trial.attempts.length + 1}`,
        new Date().toISOString(),
      );
      const { attempt } = begun;
      await using pod = await PodHere.make({
        suite: this.layout.suite.root,
        scenarioId,
        runtime: this.spec.runtime,
        timeouts,
        limits: { ...limits, memoryBytes: null },
        memoryBytes: limits.memoryBytes,
        trial: trial.name,
        attempt: attempt.number,
        trialDir: this.layout.trial(trial.name).root,
        podUID: attempt.podUID,
      });
      const { report, stderr } = await pod.run();
      if (report.result === null) throw new Error(`no result: ${stderr}`);
      const result: AttemptResult = {
        schema_version: ATTEMPT_SCHEMA_VERSION,
        trial: trial.name,
        attempt: attempt.number,
        podUID: attempt.podUID,
        ...report.result,
      };
      const classification = classifyAttempt({ result });
      const { artifacts } = report.result;
      const collected =
        artifacts === null ? null : { path: `trials/${trial.name}/attempts/${attempt.number}`, ...artifacts };
      trial = attemptEnded(begun.trial, result, classification, collected);
      const next = nextStep(trial.attempts, this.spec.retry, () => 0);
      if (next.step === 'retry') continue;
      trial = trialExecuted(trial, attempt.number, classification);
      break;
    }
    this.api.put('trials', this.resource(trial, index.suiteDigest));
  }

  /** A Trial as it would stand in the API. */
  resource(trial: TrialRecord, suiteDigest: string): TrialResource {
    const { name, runName, scenarioId, trialNumber, dimension, scenarioDigest, schema_version, ...status } =
      trial;
    return {
      apiVersion: API_VERSION,
      kind: 'Trial',
      metadata: {
        name,
        namespace: RUN.namespace,
        uid: `uid-${name}`,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { [LABELS.RUN]: runLabel(RUN.runName) },
      },
      spec: { runName, scenarioId, trialNumber, dimension, scenarioDigest, suiteDigest },
      status,
    };
  }

  trials(): TrialResource[] {
    return [...this.api.objects]
      .filter(([key]) => key.startsWith('trials/'))
      .map(([, one]) => one as unknown as TrialResource);
  }

  /** The list of a round of these trials, as the controller would write it. */
  list(trials: readonly TrialResource[], last: boolean, revision = 1): Round {
    return {
      revision,
      last,
      trials: trials.map(({ metadata, spec, status }) => {
        const { decidedBy, attempts, class: failureClass, execution } = trialStatusSchema.parse(status);
        const attempt = attempts.find(({ number }) => number === decidedBy);
        const digest = attempt?.artifacts?.digest ?? null;
        return {
          trial: metadata.name,
          scenarioId: spec.scenarioId,
          number: spec.trialNumber,
          attempt: decidedBy ?? 1,
          digest: digest === '' ? null : digest,
          class: failureClass,
          execution: execution ?? 'error',
        };
      }),
    };
  }

  /** The environment of a round's containers, its list in place. */
  async round(number: number, list: Round, request: object = {}): Promise<Record<string, string>> {
    const env = await this.env(`round-${number}`, {
      ...RUN,
      round: number,
      suitePath: null,
      scoringSeconds: 60,
      ...request,
    });
    const root = env[ENV.MOUNT_ROOT] ?? '';
    await writeFile(join(root, MOUNTS.round, 'round.json'), JSON.stringify(list));
    await mountAt(join(root, MOUNTS.run), this.layout.root);
    return env;
  }

  score = (env: Record<string, string>) => scoreRound(env, () => new Date());
  publish = (env: Record<string, string>) =>
    publishRound(env, this.api.client, (line) => this.log.push(line));
}

async function mountAt(mount: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await rm(mount, { recursive: true, force: true });
  await symlink(folder, mount);
}
