import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, type Namespace } from '../e2e/support/cluster.ts';
import { writeSmallSuite, type SmallSuiteOptions } from '../support/small-suite.ts';

/** A ConfigMap `name` with a suite of scenarios `s1`, `s2`, ... whose standard answer begins with `before`. */
export async function suiteConfigMap(
  namespace: Namespace,
  name: string,
  options: SmallSuiteOptions = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'clawbench-suite-'));
  try {
    await writeSmallSuite(join(folder, 'suite'), options);
    await suiteConfigMapOf(namespace, name, join(folder, 'suite'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same of any folder that holds a suite. */
export async function suiteConfigMapOf(namespace: Namespace, name: string, suite: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'clawbench-suite-'));
  try {
    const archive = join(folder, 'suite.tar.gz');
    const packed = await command('tar', ['-C', suite, '-czf', archive, '.']);
    if (packed.code !== 0) throw new Error(packed.stderr);
    const made = await namespace.cluster.apply(namespace.name, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      binaryData: { 'suite.tar.gz': (await readFile(archive)).toString('base64') },
    });
    if (made.code !== 0) throw new Error(made.stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A run of a suite whose first attempt takes its time, so that something can be done to it meanwhile. */
export async function slowRun(
  namespace: Namespace,
  run: string,
  options: {
    readonly seconds?: number;
    readonly before?: SmallSuiteOptions['before'];
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly scenarios?: number;
  } = {},
): Promise<void> {
  await suiteConfigMap(namespace, 'suite', {
    scenarios: options.scenarios ?? 1,
    before: options.before ?? [{ wait: options.seconds ?? 12 }],
  });
  await namespace.run(run, { suite: { configMap: { name: 'suite' } }, ...options.spec });
}
