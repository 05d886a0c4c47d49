import { UNAVAILABLE, type Provenance } from '../api/report.ts';
import type { RowStatus } from '../api/vocabulary.ts';
import { sha256 } from '../files/digest.ts';
import type { StoredRun } from './read-run.ts';
import type { PartialSum, RunTally } from './tally.ts';

/** How sums treat attempts whose cost nobody reported. */
export const ZERO_COST_POLICY =
  'a cost or token count that nobody reported is unknown, never zero: it is left out of the sums and counted';

export interface ProvenanceInput {
  readonly stored: StoredRun;
  readonly tally: RunTally;
  readonly rowStatus: RowStatus;
  /** Why no board may take the row; empty where one may. */
  readonly diagnosticReasons: readonly string[];
  readonly trialsJsonlSha256: string;
}

/**
 * Everything that a run's numbers depend on. Pure: it says only what the records say, and `unavailable` where
 * they say nothing.
 */
export function provenanceOf(input: ProvenanceInput): Provenance {
  const { stored, tally, rowStatus, diagnosticReasons, trialsJsonlSha256 } = input;
  const { run, spec, index, baseline } = stored;
  const { facts } = run;
  const model = spec.model;
  const isScripted = spec.runtime.id === 'scripted' || model?.api === 'scripted';
  const replayed = model?.cassette?.mode === 'replay';
  const parameter = (...names: string[]) =>
    names.map((name) => model?.parameters[name]).find((value) => value !== undefined);
  const seed = parameter('seed');
  const started = tally.startedAt ?? UNAVAILABLE;
  return {
    model: {
      identity: model?.id ?? 'none',
      api: model?.api ?? 'none',
      endpoint: model === undefined ? 'none' : publicUrl(model.baseURL),
      route: facts.modelRoute,
      // The provider serves what it serves on that day: the date is part of the model's identity.
      access_date: model === undefined ? 'none' : started.slice(0, 10),
      update_caveat:
        model === undefined || isScripted || replayed
          ? 'none'
          : 'the provider may have changed the model behind this name; only the access date binds it',
    },
    runtime: {
      name: facts.runtimeId,
      version: facts.runtimeVersion,
      image_digest: facts.runtimeImageDigest,
      adapter_version: facts.adapterVersion,
      operator_version: facts.operatorVersion,
      selection: facts.runtimeSelection,
      tool_schemas_sha256: facts.toolSchemasSha256 ?? UNAVAILABLE,
      surfaces_offered: facts.surfacesOffered ?? UNAVAILABLE,
      prompt_wrapper_sha256:
        facts.promptWrapperSha256 ?? (index.format === 'scenario' ? 'none' : UNAVAILABLE),
      safety_layer: facts.safetyLayer ?? UNAVAILABLE,
      isolation: facts.isolation,
      cleanup_policy: facts.cleanupPolicy,
      executor_cpu: facts.cpuLimit,
      executor_memory: facts.memoryLimit,
      egress_policy: facts.egress,
      host: facts.host,
    },
    slice: {
      scenario_bundle_sha256: index.suiteDigest,
      scenario_sha256: byId(stored, (entry) => entry.digest),
      workspace_sha256: byId(stored, (entry) => entry.workspaceDigest),
      checker_sha256: byId(stored, (entry) => entry.checkerDigest ?? 'none'),
      checker_bundle_sha256: checkerBundle(stored),
      scorer_version: oneOf(tally.scorerVersions),
      selector: index.selector,
      excluded_scenarios: index.excluded,
      row_slice: rowSlice(stored, diagnosticReasons),
      exposure: spec.exposure,
    },
    sampling: {
      trials_per_scenario: spec.trialsPerScenario,
      decoding: model === undefined ? UNAVAILABLE : model.parameters,
      seed: typeof seed === 'number' || typeof seed === 'string' ? seed : UNAVAILABLE,
      reasoning_mode: describe(parameter('reasoning', 'reasoning_effort', 'thinking')),
      parallelism: spec.parallelism,
      live_retries: tally.retries,
      replay: replayed ? 'replayed' : isScripted ? 'scripted' : 'live',
    },
    policy: {
      timeouts: spec.timeouts,
      timeouts_overridden: facts.timeoutsOverridden,
      retry: spec.retry,
    },
    execution: {
      row_status: rowStatus,
      rerun_reasons: run.reruns.map((rerun) => ({
        revision: rerun.revision,
        at: rerun.at,
        classes: rerun.classes,
        scenarios: [...(tally.rerunScenarios.get(rerun.revision) ?? [])].sort(),
      })),
      failures_by_class: tally.classes,
      started_at: started,
      ended_at: tally.endedAt ?? UNAVAILABLE,
    },
    resources: {
      tokens_scored: sumOf(tally.tokensScored),
      tokens_all: sumOf(tally.tokensAll),
      cost_scored_usd: dollars(sumOf(tally.costScored)),
      cost_all_usd: dollars(sumOf(tally.costAll)),
      cost_source: oneOf(tally.usageSources),
      zero_cost_policy: ZERO_COST_POLICY,
      attempts_without_cost: tally.costAll.unknown,
    },
    evidence: {
      source_report_sha256: trialsJsonlSha256,
      noop_baseline_sha256: baseline === null ? UNAVAILABLE : sha256(JSON.stringify(baseline)),
    },
  };
}

/** A URL without user, password, query and fragment, in which people put credentials. */
function publicUrl(url: string | undefined): string {
  if (url === undefined) return UNAVAILABLE;
  const parsed = new URL(url);
  return `${parsed.origin}${parsed.pathname}`;
}

function rowSlice(stored: StoredRun, reasons: readonly string[]): Provenance['slice']['row_slice'] {
  if (reasons.length > 0) return 'diagnostic';
  return stored.spec.suite.tags.some((tag) => tag.includes('holdout')) ? 'holdout' : 'full';
}

function byId(
  stored: StoredRun,
  digest: (entry: StoredRun['index']['scenarios'][number]) => string,
): Record<string, string> {
  return Object.fromEntries(stored.index.scenarios.map((entry) => [entry.id, digest(entry)]));
}

function checkerBundle(stored: StoredRun): string {
  const digests = new Set(stored.index.scenarios.flatMap(({ checkerDigest }) => checkerDigest ?? []));
  return digests.size === 0 ? 'none' : sha256([...digests].sort().join('\n'));
}

function oneOf(words: ReadonlySet<string>): string {
  return words.size === 0 ? UNAVAILABLE : [...words].sort().join(', ');
}

function describe(value: unknown): string {
  if (value === undefined) return UNAVAILABLE;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function sumOf(sum: PartialSum): number | typeof UNAVAILABLE {
  return sum.known === 0 ? UNAVAILABLE : sum.sum;
}

/** Millionths of a dollar: below that, a sum of floats is noise. */
function dollars(value: number | typeof UNAVAILABLE): number | typeof UNAVAILABLE {
  return typeof value === 'number' ? Math.round(value * 1_000_000) / 1_000_000 : value;
}
