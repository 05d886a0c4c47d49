import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHECKOUT } from '../support/cli.ts';
import { writesIn } from './support/audit.ts';
import { Cluster, isTrue, OPERATOR_NAMESPACE, type Namespace, type Run } from './support/cluster.ts';
import { comparable, localRows } from './support/rows.ts';

const FILE = join(CHECKOUT, 'examples/run.yaml');
const RUN = 'builtin-scripted';

let namespace: Namespace;
let run: Run;

beforeAll(async () => {
  const cluster = await Cluster.open();
  namespace = await cluster.namespace('example');
  await cluster.must(['apply', '-n', namespace.name, '-f', FILE]);
  run = await namespace.ended(RUN, 420);
});
afterAll(() => namespace.dispose());

describe('kubectl apply -f examples/run.yaml', () => {
  it('reaches Complete with every trial passed', () => {
    expect(isTrue(run, 'Complete')).toBe(true);
    expect(run.status).toMatchObject({
      phase: 'Completed',
      progress: '36/36',
      rowStatus: 'clean_base',
      counts: { trials: 36, byPhase: { Scored: 36 }, byOutcome: { pass: 36 } },
      scores: { overall: 1, final: 1 },
    });
    for (const type of ['SuiteFrozen', 'Executed', 'ArtifactsCollected', 'Scored'] as const) {
      expect(isTrue(run, type), type).toBe(true);
    }
  });

  it('tells its story in columns', async () => {
    const runs = await namespace.cluster.must(['get', 'brun', '-n', namespace.name]);
    expect(runs.split('\n')[0]?.split(/\s+/)).toEqual([
      'NAME',
      'PHASE',
      'PROGRESS',
      'PASS',
      'FAIL',
      'SCORE',
      'REASON',
      'AGE',
    ]);
    expect(runs).toMatch(/builtin-scripted\s+Completed\s+36\/36\s+36\s/);
    const trials = (await namespace.cluster.must(['get', 'trial', '-n', namespace.name])).trim().split('\n');
    expect(trials).toHaveLength(37);
    expect(trials[1]).toMatch(/builtin-scripted\s+[a-z-]+\s+[123]\s+Scored\s+1\s+pass\s+1/);
  });

  it('costs six writes a trial: Trial, Pod, two of its status, the score, the deletion of the pod', async () => {
    const writes = (await writesIn(namespace.cluster.auditLog, namespace.name)).filter(
      ({ user, code }) =>
        code < 400 &&
        (user.startsWith(`system:serviceaccount:${OPERATOR_NAMESPACE}:`) ||
          user.endsWith(':clawbench-worker')),
    );
    const trials = await namespace.trials(RUN);
    const most: string[] = [];
    for (const { metadata } of trials) {
      const own = writes
        .filter(({ name }) => name === metadata.name || name.startsWith(`${metadata.name}-`))
        .map(
          ({ verb, resource, user }) =>
            `${verb} ${resource} by ${user.endsWith(':clawbench-worker') ? 'publish' : 'the controller'}`,
        );
      most.push(own.sort().join('\n'));
    }
    const kinds = new Set(most);
    expect([...kinds].map((kind) => kind.split('\n'))).toEqual([
      [
        'create pods by the controller',
        'create trials by the controller',
        'delete pods by the controller',
        'patch trials/status by publish',
        'patch trials/status by the controller',
        'patch trials/status by the controller',
      ],
    ]);
  });

  it('leaves no pod of a trial behind, and nothing that holds a key', async () => {
    await namespace.until(
      'pods of trials are gone',
      async () => (await namespace.pods(RUN)).length === 0,
      60,
    );
  });

  it('gives the rows that the same file gives on one machine', async () => {
    const [cluster, local] = [
      await namespace.rows(RUN),
      await localRows(parse(await readFile(FILE, 'utf8')) as object),
    ];
    expect(cluster.map(comparable)).toEqual(local.map(comparable));
  });
});
