import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import { ENV } from '../api/pod-contract.ts';
import { modelProblems } from '../gateway/server.ts';
import { builtinSuiteRoot } from '../suite/load.ts';

/**
 * Checks that the run's model can be asked from this machine.
 *
 * @param apiKey CLAWBENCH_API_KEY, which stands for every `apiKeySecretRef` here
 * @throws InvalidInputError with everything that is wrong
 */
export function checkModel({ model }: BenchmarkRunSpec, apiKey: string | null, file: string): void {
  if (model === undefined) return;
  const problems: InputProblem[] = modelProblems(model).map((problem) => ({ ...problem, file }));
  if (model.apiKeySecretRef !== undefined && apiKey === null) {
    problems.push({
      file,
      field: 'spec.model.apiKeySecretRef',
      message: `on one machine the key is the environment variable ${ENV.API_KEY}, which is not set`,
      remedy: 'Set it, or remove the field where the model wants no key.',
    });
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
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
  ];
  return given.filter(([, isGiven]) => isGiven).map(([field]) => `spec.${field}`);
}
