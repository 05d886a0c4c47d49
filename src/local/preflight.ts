import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkRunSpec, RuntimeSpec } from '../api/benchmark-run.ts';
import { errnoOf, InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { adapterFor } from '../runtimes/registry.ts';
import { scriptProblems } from '../runtimes/scripted/script.ts';
import { builtinSuiteRoot } from '../suite/load.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import type { Selection } from '../suite/select.ts';

/** The adapter of a run's runtime, and the spec with the runtime's aliases resolved. */
export interface CheckedRuntime {
  readonly adapter: RuntimeAdapter;
  readonly runtime: RuntimeSpec;
}

/**
 * Checks a run's runtime against its adapter.
 *
 * @param file the run's file, for messages
 * @throws InvalidInputError with everything that is wrong
 */
export function checkRuntime(spec: BenchmarkRunSpec, file: string): CheckedRuntime {
  const adapter = adapterFor(spec.runtime.id);
  const problems: InputProblem[] = adapter
    .validate(spec.runtime)
    .map((problem) => ({ ...problem, file, field: `spec.runtime.${problem.field}` }));
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  return { adapter, runtime: { ...spec.runtime, id: adapter.id } };
}

/**
 * Where the run's suite lies on this machine.
 *
 * @param suitePath `--suite`, which stands in for a source that only a cluster has
 * @throws InvalidInputError when such a source is declared and no path given
 */
export function suiteRootOf(spec: BenchmarkRunSpec, suitePath: string | undefined, file: string): string {
  if (suitePath !== undefined) return suitePath;
  if (spec.suite.builtin !== undefined) return builtinSuiteRoot();
  throw new InvalidInputError({
    file,
    field: 'spec.suite',
    message: 'this source of a suite exists in a cluster only',
    remedy: 'Give the folder of the suite on this machine with --suite.',
  });
}

/**
 * The scripted runtime plays scripts: each selected scenario must have the one that its behaviour needs.
 *
 * @throws InvalidInputError naming every script that is missing
 */
export async function checkScripts(
  runtime: RuntimeSpec,
  suite: LoadedSuite,
  selection: Selection,
): Promise<void> {
  if (runtime.id !== 'scripted' || suite.format !== 'scenario') return;
  const scenarios = await Promise.all(
    selection.scenarios.map(async ({ id, scenario: { scripted_dir } }) => ({
      id,
      scripted: scripted_dir === null ? [] : await scriptsIn(join(suite.root, scripted_dir)),
    })),
  );
  const ids = suite.scenarios.map(({ id }) => id);
  const [first, ...rest] = scriptProblems(runtime, scenarios, ids);
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
}

async function scriptsIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -'.yaml'.length));
  } catch (error) {
    // A folder that is missing is freezing's to report, with file and line.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Fields of a spec that mean nothing on one machine; people are told instead of wondering. */
export function ignoredFields(spec: BenchmarkRunSpec): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    [
      'artifacts',
      spec.artifacts.persistentVolumeClaim !== undefined || spec.artifacts.volumeClaimTemplate !== undefined,
    ],
    ['network', spec.network.egress !== 'ModelOnly'],
    ['queueName', spec.queueName !== undefined],
    ['runtime.podTemplate', spec.runtime.podTemplate !== undefined],
    ['runtime.image', spec.runtime.image !== undefined],
    ['scoring.resources', spec.scoring.resources !== undefined],
    ['ttlSecondsAfterFinished', spec.ttlSecondsAfterFinished !== undefined],
    ['model', spec.runtime.id === 'scripted' && spec.model !== undefined],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([field]) => `spec.${field}`);
}
