import type { BenchmarkRunSpec, RuntimeSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { adapterFor } from '../runtimes/registry.ts';
import { scriptProblems } from '../runtimes/scripted/script.ts';
import { builtinSuiteRoot } from '../suite/load.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import { resolveScenario } from '../suite/resolve.ts';
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
 * Resolves every file of the selected scenarios, so that nothing is found missing once the run has begun. The
 * scripted runtime plays scripts: each scenario must have the one that its behaviour needs.
 *
 * @throws InvalidInputError with all problems
 */
export async function checkScenarios(
  runtime: RuntimeSpec,
  suite: LoadedSuite,
  selection: Selection,
): Promise<void> {
  if (suite.format !== 'scenario') return;
  const problems: InputProblem[] = [];
  const scripted: { id: string; scripted: string[] }[] = [];
  for (const loaded of selection.scenarios) {
    const { resolved, problems: unresolved } = await resolveScenario(suite, loaded);
    problems.push(...unresolved);
    scripted.push({ id: loaded.id, scripted: [...resolved.behaviours] });
  }
  if (runtime.id === 'scripted') {
    const ids = suite.scenarios.map(({ id }) => id);
    problems.push(...scriptProblems(runtime, scripted, ids));
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
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
