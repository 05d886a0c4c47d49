import type { ConfigMapDraft } from './kubernetes.ts';
import { roundSchema, type Round } from '../../api/container-requests.ts';
import { runChildName } from '../../api/names.ts';
import { runChildMetadata } from '../../api/run-children.ts';
import type { RunContext } from './context.ts';

const KEY = 'round.json';
/** What the API server takes of one ConfigMap, less what its metadata may need. */
const MOST_BYTES = 1000 * 1024;

export function roundConfigMapName(run: Pick<RunContext, 'name'>, number: number): string {
  return runChildName(run.name, `round-${number}`);
}

/**
 * The list of a score round. It is immutable: what `publish` accepts is what the controller decided once.
 *
 * @throws RangeError when the list does not fit a ConfigMap; spec.scoring.batchSize is bounded so that it does
 */
export function roundConfigMap(run: RunContext, number: number, round: Round): ConfigMapDraft {
  const text = JSON.stringify(round);
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) {
    throw new RangeError(
      `round ${number} of ${round.trials.length} trials takes ${bytes} bytes; lower the batch`,
    );
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: runChildMetadata(run, roundConfigMapName(run, number), 'score'),
    immutable: true,
    data: { [KEY]: text },
  };
}

/**
 * Reads a round's list back, e.g. after a restart of the controller.
 *
 * @throws Error (SyntaxError, ZodError) when the ConfigMap is not one that roundConfigMap made
 */
export function readRoundConfigMap(configMap: Pick<ConfigMapDraft, 'data'>): Round {
  return roundSchema.parse(JSON.parse(configMap.data?.[KEY] ?? 'null'));
}
