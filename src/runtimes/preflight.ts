import type { BenchmarkRunSpec, RuntimeSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import { resolveScenario } from '../suite/resolve.ts';
import { selectScenarios, type Selection } from '../suite/select.ts';
import type { RuntimeAdapter } from './adapter.ts';
import { adapterFor } from './registry.ts';
import { scriptProblems } from './scripted/script.ts';

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

/**
 * The scenarios that a run takes from its suite.
 *
 * @throws InvalidInputError for unknown ids, and when nothing is left
 */
export function selectForRun(spec: Pick<BenchmarkRunSpec, 'suite'>, suite: LoadedSuite): Selection {
  const { builtin, persistentVolumeClaim, configMap, image, format, ...selector } = spec.suite;
  return selectScenarios(suite, selector);
}
