import { benchmarkRunSchema, type BenchmarkRun } from '../api/benchmark-run.ts';
import { validateYaml } from '../files/problems.ts';
import { readYamlFile } from '../files/yaml.ts';
import { isObject } from './is-object.ts';

/** What command line flags change in a run's file. */
export interface RunOverrides {
  readonly scenarioIds?: readonly string[] | undefined;
  readonly trials?: number | undefined;
  readonly model?: string | undefined;
  readonly runtime?: string | undefined;
  readonly parallelism?: number | undefined;
}

/**
 * Reads a BenchmarkRun from a YAML file and applies the flags of the command line.
 *
 * @throws InvalidInputError naming file, line and field of everything that is wrong
 */
export async function readRunFile(path: string, overrides: RunOverrides = {}): Promise<BenchmarkRun> {
  return (await readRunDocument(path, overrides)).run;
}

/**
 * `readRunFile`, and the document as it is written, without defaults: what is sent to a cluster.
 *
 * @throws InvalidInputError naming file, line and field of everything that is wrong
 */
export async function readRunDocument(
  path: string,
  overrides: RunOverrides = {},
): Promise<{ readonly run: BenchmarkRun; readonly document: unknown }> {
  const source = await readYamlFile(path);
  const document = withOverrides(source.value, overrides);
  return { run: validateYaml(benchmarkRunSchema, { ...source, value: document }), document };
}

function withOverrides(value: unknown, overrides: RunOverrides): unknown {
  if (!isObject(value) || !isObject(value['spec'])) return value;
  const spec = { ...value['spec'] };
  const { scenarioIds, trials, model, runtime, parallelism } = overrides;
  if (scenarioIds !== undefined && scenarioIds.length > 0)
    spec['suite'] = { ...part(spec['suite']), scenarioIds };
  if (trials !== undefined) spec['trialsPerScenario'] = trials;
  if (parallelism !== undefined) spec['parallelism'] = parallelism;
  if (runtime !== undefined) spec['runtime'] = { ...part(spec['runtime']), id: runtime };
  if (model !== undefined) spec['model'] = { ...part(spec['model']), id: model };
  return { ...value, spec };
}

function part(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
