import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { KubeClient } from '../../../src/kube/client.ts';
import { loadClusterAccess } from '../../../src/kube/config.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/kube/resource.ts';
import type { CustomResourceDefinition, Draft } from '../../../src/kube/object.ts';
import { trialName, LABELS, runLabel } from '../../../src/api/names.ts';
import { runOwnerReference } from '../../../src/api/run-children.ts';
import { RUN_RESOURCE, TRIAL_RESOURCE, type RunObject } from '../../../src/cli/cluster/resources.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { CHECKOUT } from '../../support/cli.ts';

/** A real API server with the project's resources. */
export interface ClusterUnderTest {
  readonly server: TestApiServer;
  readonly client: KubeClient;
  readonly stop: () => Promise<void>;
}

export async function startCluster(): Promise<ClusterUnderTest> {
  const server = await startApiServer();
  const access = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
  const client = new KubeClient(access, { fieldManager: 'test' });
  for (const plural of ['benchmarkruns', 'trials']) {
    const file = join(CHECKOUT, 'crds', `clawbench.dev_${plural}.yaml`);
    const definition = parse(await readFile(file, 'utf8')) as Draft<CustomResourceDefinition>;
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  }
  await until(async () => {
    await client.list(RUN_RESOURCE, { namespace: 'default' });
    await client.list(TRIAL_RESOURCE, { namespace: 'default' });
    return true;
  });
  return {
    server,
    client,
    stop: async () => {
      await client.close();
      await server.stop();
    },
  };
}

/** Repeats until it neither throws nor gives a false value. */
export async function until<Value>(look: () => Promise<Value | undefined | false | null>): Promise<Value> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const value = await look();
      if (value !== undefined && value !== false && value !== null) return value;
    } catch (error) {
      if (attempt > 200) throw error;
    }
    if (attempt > 200) throw new Error('did not come to pass in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const SCORES = {
  overall: 0.5,
  overall_covered: 0.75,
  capability: 0.6,
  pass_at_1: { weighted: 0.5, unweighted: 0.5 },
  pass_any: { weighted: 1, unweighted: 1 },
  strict: { weighted: 0, unweighted: 0 },
  dimensions: { planning: 0.75 },
  final: 0.5,
};

type Outcome = 'pass' | 'execution_failure';

/** Moves a run and its trials through their states as an operator does, because none runs here. */
export class StatusMover {
  readonly #client: KubeClient;
  readonly #ref: { readonly namespace: string; readonly name: string };

  constructor(client: KubeClient, name: string, namespace = 'default') {
    this.#client = client;
    this.#ref = { namespace, name };
  }

  run(): Promise<RunObject> {
    return this.#client.get(RUN_RESOURCE, this.#ref);
  }

  async created(): Promise<RunObject> {
    return until(() => this.#client.find(RUN_RESOURCE, this.#ref));
  }

  async status(status: object): Promise<void> {
    await this.#client.patch(
      RUN_RESOURCE,
      this.#ref,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  }

  async trials(outcomes: readonly Outcome[]): Promise<void> {
    const run = await this.run();
    for (const [index, outcome] of outcomes.entries()) {
      const name = trialName(run.metadata.name, run.metadata.uid, 'plan_a', index + 1);
      await this.#client.create(TRIAL_RESOURCE, {
        metadata: {
          name,
          namespace: this.#ref.namespace,
          labels: { [LABELS.RUN]: runLabel(run.metadata.name) },
          ownerReferences: [runOwnerReference(run.metadata)],
        },
        spec: {
          runName: run.metadata.name,
          scenarioId: 'plan_a',
          trialNumber: index + 1,
          dimension: 'planning',
          scenarioDigest: 'a'.repeat(64),
          suiteDigest: 'b'.repeat(64),
        },
      });
      await this.trial(name, { phase: 'Running' });
      await this.trial(name, {
        phase: 'Scored',
        outcome,
        score: outcome === 'pass' ? 1 : null,
        class: outcome === 'pass' ? null : 'infrastructure',
        reason: outcome === 'pass' ? null : 'NodeLost',
      });
    }
  }

  async trial(name: string, status: object): Promise<void> {
    await this.#client.patch(
      TRIAL_RESOURCE,
      { namespace: this.#ref.namespace, name },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  }

  /** Ends the run, or its latest rerun or scoring. */
  async end(outcomes: readonly Outcome[], as: 'Complete' | 'Failed' = 'Complete'): Promise<void> {
    const run = await this.run();
    const count = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length;
    const generation = run.metadata.generation ?? 1;
    await this.status({
      observedGeneration: generation,
      phase: as === 'Complete' ? 'Completed' : 'Failed',
      progress: `${outcomes.length}/${outcomes.length}`,
      counts: {
        trials: outcomes.length,
        byPhase: { Scored: outcomes.length },
        byOutcome: { pass: count('pass'), execution_failure: count('execution_failure') },
        byClass: {},
        failed: count('execution_failure'),
      },
      scores: SCORES,
      rowStatus: 'clean_base',
      scoredRevision: run.spec.scoring?.revision ?? 1,
      ...(run.spec.rerun === undefined ? {} : { rerunRevision: run.spec.rerun.revision }),
      conditions: [
        {
          type: as,
          status: 'True',
          reason: as === 'Complete' ? 'AllTrialsScored' : 'SuiteNotFound',
          message: as === 'Complete' ? 'every trial was scored' : 'the suite is not there',
          observedGeneration: generation,
          lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
        },
      ],
    });
  }
}
