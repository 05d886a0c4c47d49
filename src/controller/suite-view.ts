import { INDEX_KEY, readIndex, type IndexReading } from '../api/index-config-map.ts';
import { resolveTimeouts, type ResolvedTimeouts } from '../api/timeouts.ts';
import type { ConfigMap } from '../kube/object.ts';
import type { Cache } from './cache.ts';
import type { SuiteView } from './run/observation.ts';
import type { RunView } from './run-view.ts';

const views = new WeakMap<
  ConfigMap,
  { readonly parts: readonly ConfigMap[]; readonly reading: IndexReading }
>();

/**
 * The frozen suite's index as the run's ConfigMaps have it. They are immutable, so joining them is remembered with the
 * first of them.
 */
export function readSuite(cache: Pick<Cache, 'configMaps'>, run: RunView): IndexReading {
  const all = cache.configMaps.byIndex('run', run.uid);
  const parts = all.filter(({ data }) => data?.[INDEX_KEY] !== undefined);
  const first = parts[0];
  if (first === undefined) return { state: 'incomplete', missing: [0] };
  const known = views.get(first);
  if (known?.parts.length === parts.length && parts.every((part, i) => known.parts[i] === part)) {
    return known.reading;
  }
  const reading = readIndex(parts);
  views.set(first, { parts, reading });
  return reading;
}

/** The same, or null while parts are missing or wrong. */
export function suiteOf(cache: Pick<Cache, 'configMaps'>, run: RunView): SuiteView | null {
  const reading = readSuite(cache, run);
  return reading.state === 'complete' ? reading : null;
}

const scenarios = new WeakMap<SuiteView, ReadonlyMap<string, SuiteView['scenarios'][number]>>();

export function scenarioOf(suite: SuiteView, id: string): SuiteView['scenarios'][number] | undefined {
  let byId = scenarios.get(suite);
  if (byId === undefined) {
    byId = new Map(suite.scenarios.map((scenario) => [scenario.id, scenario]));
    scenarios.set(suite, byId);
  }
  return byId.get(id);
}

/** The clocks of a trial, from the run's specification and what the suite declares for its scenario. */
export function timeoutsOf(run: RunView, suite: SuiteView | null, scenarioId: string): ResolvedTimeouts {
  const scenario = suite === null ? undefined : scenarioOf(suite, scenarioId);
  const declared = { turn: scenario?.turn ?? undefined, total: scenario?.total ?? undefined };
  return resolveTimeouts(run.spec.timeouts, declared).timeouts;
}
