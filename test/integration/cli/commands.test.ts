import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RUN_RESOURCE } from '../../../src/cli/cluster/resources.ts';
import { cli, startCli, type CliResult, type RunningCli } from '../../support/cli.ts';
import { startCluster, StatusMover, type ClusterUnderTest } from './cluster.ts';

let cluster: ClusterUnderTest;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clawbench-cli-'));
  cluster = await startCluster();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cluster.stop();
});

const here = (): string[] => ['--kubeconfig', cluster.server.kubeconfigPath];
const run = (...args: string[]): Promise<CliResult> => cli([...args, ...here()]);
const start = (...args: string[]): RunningCli => startCli([...args, ...here()]);

function runFile(name: string, spec: Record<string, unknown> = {}): string {
  const path = join(folder, `${name}.yaml`);
  const resource = {
    apiVersion: 'clawbench.dev/v1alpha1',
    kind: 'BenchmarkRun',
    metadata: { name },
    spec: { suite: { builtin: {} }, runtime: { id: 'scripted' }, ...spec },
  };
  writeFileSync(path, JSON.stringify(resource));
  return path;
}

test('run makes the run, tells how it goes on and prints its headline scores', async () => {
  const watching = start('run', '-f', runFile('good'), '--trials', '2', '--parallelism', '7');
  const mover = new StatusMover(cluster.client, 'good');
  const created = await mover.created();
  expect(created.spec).toMatchObject({ trialsPerScenario: 2, parallelism: 7 });
  await watching.said('created');
  await mover.status({ phase: 'Preparing' });
  await watching.said('freezing the suite');
  await mover.status({ phase: 'Running', counts: { trials: 2, byPhase: {}, byOutcome: {}, byClass: {} } });
  await watching.said('running trials');
  await mover.trials(['pass', 'pass']);
  await watching.said('[2/2] plan_a/2: pass 1.0000');
  await mover.end(['pass', 'pass']);
  const { code, stdout, stderr } = await watching.result;
  expect([code, stderr]).toEqual([0, expect.stringContaining('[1/2] plan_a/1: pass 1.0000')]);
  expect(stdout).toContain('default/good: Complete (AllTrialsScored)');
  expect(stdout).toMatch(/overall +0\.5000/);
  expect(stdout).toContain('clawbench artifacts good -n default');
  // Piped: no bar, no control characters.
  expect(stdout + stderr).not.toContain('\u001b');
});

test('run again shows the result at once; -o json prints run and trials', async () => {
  const { code, stdout, stderr } = await run(
    'run',
    '-f',
    runFile('good'),
    '--trials',
    '2',
    '--parallelism',
    '7',
    '-o',
    'json',
  );
  expect(stderr).toContain('has ended already');
  expect(code).toBe(0);
  const printed = JSON.parse(stdout) as { run: { status: object }; trials: unknown[] };
  expect(printed.trials).toHaveLength(2);
  expect(printed.run.status).toMatchObject({ phase: 'Completed' });
  expect(stdout).not.toContain('managedFields');
});

test('run refuses, with the sentences of the API server, what may not be changed', async () => {
  const { code, stderr } = await run('run', '-f', runFile('good'), '--trials', '3');
  expect(code).toBe(2);
  expect(stderr).toContain('good.yaml: spec');
  expect(stderr).toContain('trialsPerScenario');
  expect(stderr).not.toContain('Invalid value');
  expect(stderr).not.toMatch(/^ +at /m);
});

test('run names file, line and field of what is wrong before it asks the cluster', async () => {
  const path = join(folder, 'wrong.yaml');
  writeFileSync(
    path,
    'apiVersion: clawbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: x}\nspec:\n  suite: {builtin: {}}\n  runtime: {id: scripted}\n  paralelism: 3\n',
  );
  const { code, stderr } = await run('run', '-f', path);
  expect([code, stderr]).toEqual([2, expect.stringContaining('wrong.yaml:7: spec.paralelism')]);
});

test('--dry-run is checked by the API server and keeps nothing', async () => {
  const { code, stdout } = await run('run', '-f', runFile('dry'), '--dry-run');
  expect([code, stdout]).toEqual([0, expect.stringContaining('default/dry would be created')]);
  expect(await cluster.client.find(RUN_RESOURCE, { namespace: 'default', name: 'dry' })).toBeNull();
});

test('--no-wait ends at once and says how to look', async () => {
  const { code, stdout } = await run('run', '-f', runFile('later'), '--no-wait');
  expect(code).toBe(0);
  expect(stdout).toContain('clawbench status later -n default');
  expect(stdout).toContain('clawbench cancel later -n default');
});

test('execution failures give exit code 1, a failed run too', async () => {
  const watching = start('run', '-f', runFile('bad'));
  const mover = new StatusMover(cluster.client, 'bad');
  await mover.created();
  await watching.said('created');
  await mover.status({ phase: 'Running' });
  await watching.said('running trials');
  await mover.trials(['execution_failure']);
  await mover.end(['execution_failure']);
  const { code, stderr, stdout } = await watching.result;
  expect([code, stdout]).toEqual([1, expect.stringContaining('1 execution failure')]);
  expect(stderr).toContain('plan_a/1: execution_failure (NodeLost)');

  await run('run', '-f', runFile('broken'), '--no-wait');
  await new StatusMover(cluster.client, 'broken').end([], 'Failed');
  const failed = await run('status', 'broken', '--watch');
  expect([failed.code, failed.stdout]).toEqual([
    1,
    expect.stringContaining('default/broken: Failed (SuiteNotFound)'),
  ]);
});

test('Ctrl-C ends the watching alone and says how to go on', async () => {
  const watching = start('status', 'later', '--watch');
  const mover = new StatusMover(cluster.client, 'later');
  await mover.status({ phase: 'Running' });
  await watching.said('running trials');
  watching.child.kill('SIGINT');
  const { code, stderr } = await watching.result;
  expect(code).toBe(130);
  expect(stderr).toContain('goes on in the cluster');
  expect(stderr).toContain('clawbench cancel later -n default');
  expect((await mover.run()).spec.cancel).not.toBe(true);
});

test('a stall is told while it lasts, and a deleted run ends the watch', async () => {
  await run('run', '-f', runFile('stuck'), '--no-wait');
  const mover = new StatusMover(cluster.client, 'stuck');
  const watching = start('status', 'stuck', '--watch');
  await mover.status({
    phase: 'Running',
    conditions: [
      {
        type: 'Stalled',
        status: 'True',
        reason: 'ProviderRateLimit',
        message: 'the last 10 attempts ended alike',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  });
  await watching.said('Stalled True: ProviderRateLimit: the last 10 attempts ended alike');
  await cluster.client.delete(RUN_RESOURCE, { namespace: 'default', name: 'stuck' });
  const { code, stderr } = await watching.result;
  expect([code, stderr]).toEqual([1, expect.stringContaining('default/stuck was deleted')]);
});

test('status lists runs and shows one, also as JSON', async () => {
  const list = await run('status');
  expect(list.code).toBe(0);
  expect(list.stdout).toMatch(/^good +Completed +2\/2 +2 +0 +0\.5000/m);
  expect(list.stdout).toMatch(/^bad +Completed +1\/1 +0 +1 /m);
  const one = await run('status', 'bad');
  expect(one.stdout).toContain('AllTrialsScored');
  expect(one.stdout).toMatch(/plan_a\/1 +Scored .*execution failure .*infrastructure: NodeLost/);
  const json = JSON.parse((await run('status', '-o', 'json')).stdout) as { runs: unknown[] };
  expect(json.runs.length).toBeGreaterThan(2);
});

test('status without a controller says so; a wrong name suggests the right one', async () => {
  await run('run', '-f', runFile('fresh'), '--no-wait');
  expect((await run('status', 'fresh')).stdout).toContain('Is the operator running?');
  const { code, stderr } = await run('status', 'fresk');
  expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean "fresh"?')]);
  expect((await run('status', 'fresh', '-n', 'elsewhere')).code).toBe(2);
});

test('suspend, resume and cancel change the spec once', async () => {
  const mover = new StatusMover(cluster.client, 'fresh');
  expect((await run('suspend', 'fresh')).stdout).toContain('starts nothing new');
  expect((await mover.run()).spec.suspend).toBe(true);
  const generation = (await mover.run()).metadata.generation;
  const again = await run('suspend', 'fresh');
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('is suspended already')]);
  expect((await mover.run()).metadata.generation).toBe(generation);
  expect((await run('resume', 'fresh')).stdout).toContain('goes on');
  expect((await run('cancel', 'fresh')).stdout).toContain('is cancelled');
  expect((await mover.run()).spec).toMatchObject({ suspend: false, cancel: true });
  expect((await run('cancel', 'good')).stdout).toContain('has ended; there is nothing to cancel');
});

test('rescore raises the revision, takes a suite, and waits for the new scores', async () => {
  const mover = new StatusMover(cluster.client, 'good');
  const watching = start('rescore', 'good', '--suite', 'pvc:suites/repaired');
  await watching.said('scoring.revision 2');
  expect((await mover.run()).spec.scoring).toMatchObject({
    revision: 2,
    suite: { persistentVolumeClaim: { claimName: 'suites', path: 'repaired' } },
  });
  await mover.end(['pass', 'pass']);
  expect((await watching.result).code).toBe(0);
  expect((await run('rescore', 'good', '--suite', 'configmap:fixed', '--no-wait')).code).toBe(0);
  expect((await mover.run()).spec.scoring).toMatchObject({
    revision: 3,
    suite: { configMap: { name: 'fixed' } },
  });
  expect((await mover.run()).spec.scoring).not.toHaveProperty('suite.persistentVolumeClaim');
  const wrong = await run('rescore', 'good', '--suite', 'floppy:a');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--suite')]);
});

test('rerun of a run raises its revision and waits for its end', async () => {
  const mover = new StatusMover(cluster.client, 'bad');
  const watching = start('rerun', 'bad', '--class', 'infrastructure,provider', '--scenario', 'plan_a');
  await watching.said('rerun.revision 1');
  expect((await mover.run()).spec.rerun).toEqual({
    revision: 1,
    classes: ['infrastructure', 'provider'],
    scenarioIds: ['plan_a'],
  });
  await mover.end(['pass']);
  expect((await watching.result).code).toBe(0);
  expect((await run('rerun', 'bad', '--class', 'agent')).code).toBe(2);
  expect((await run('rerun', 'nobody', '--class', 'provider')).code).toBe(2);
});

test('artifacts and show say what is missing before any pod is made', async () => {
  const target = join(folder, 'copy');
  const early = await run('artifacts', 'later', '-o', target);
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('--image')]);
  const noClaim = await run('show', 'later', '--image', 'operator:dev');
  expect([noClaim.code, noClaim.stderr]).toEqual([
    2,
    expect.stringContaining('claim default/later-artifacts'),
  ]);
});

test('without credentials, without the resource, without a cluster', async () => {
  const stranger = await cluster.server.kubeconfigFor('stranger', 'not-a-token');
  const refused = await cli(['status', '--kubeconfig', stranger]);
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringContaining('does not accept the credentials'),
  ]);
  const dead = join(folder, 'dead');
  writeFileSync(
    dead,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { token: 'x' } }],
    }),
  );
  for (const args of [['status'], ['run', '-f', runFile('good')], ['cancel', 'good'], ['show', 'good']]) {
    const { code, stderr } = await cli([...args, '--kubeconfig', dead]);
    expect([args, code, stderr]).toEqual([args, 3, expect.stringContaining('cannot reach the cluster')]);
    expect(stderr).not.toMatch(/^ +at /m);
  }
  const context = await run('status', '--context', 'nowhere');
  expect([context.code, context.stderr]).toEqual([2, expect.stringContaining('there is no context nowhere')]);
});
