import { z } from 'zod';
import type { Scenario } from '../api/scenario.ts';
import {
  BENCHMARK_GROUPS,
  BENCHMARK_STATUSES,
  DIFFICULTIES,
  DIMENSIONS,
  SIGNAL_SOURCES,
  type SignalSource,
} from '../api/vocabulary.ts';
import { checkFileSchema } from './check-file.ts';

/** A scenario's id names folders and is shown in tables and labels. */
export const SCENARIO_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Fields that suites carry for people; nothing scores them. */
export const CARRIED_FIELDS = [
  'expected_outcome',
  'category',
  'description',
  'objective',
  'prerequisites',
  'steps',
  'scoring_criteria',
  'time_limit',
] as const;

/** Prefix of a tool's name and the OpenClaw surface it belongs to, in the order surfaces are listed. */
const SURFACE_OF_PREFIX = [
  'calendar',
  'gmail',
  'contacts',
  'message',
  'directory',
  'memory',
  'browser',
  'feishu',
  'task',
  'bitable',
  'wiki',
  'sheet',
  'im',
] as const;

const words = z.array(z.string().min(1)).default([]);
const text = z.string().min(1);
const anyMap = z.record(z.string(), z.unknown());
const carried = z.unknown().optional();

const workspaceFile = z.union([
  text,
  z.strictObject({ path: text, content: z.string() }),
  // The public runner takes `path` for `dest` here.
  z.strictObject({ source: text, dest: text.optional(), path: text.optional() }),
]);

/** A scenario file as it is written; null stands for an absent field. */
const rawScenarioSchema = z.strictObject({
  id: z.string().regex(SCENARIO_ID, {
    error: 'must be 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit',
  }),
  dimension: z.enum(DIMENSIONS),
  benchmark_group: z.enum(BENCHMARK_GROUPS),
  name: text.optional(),
  difficulty: z.enum(DIFFICULTIES).default('medium'),
  benchmark_status: z.enum(BENCHMARK_STATUSES).default('active'),
  benchmark_core: z.boolean().default(false),
  execution_mode: z.enum(['replay', 'live']).default('replay'),
  signal_source: z.enum(SIGNAL_SOURCES).optional(),
  weight: z.number().nonnegative().default(1),
  timeout_seconds: z.number().positive().max(604_800).default(180),
  optimal_steps: z.int().default(5),
  pass_threshold: z.number().default(0.6),
  prompt: z.string().default(''),
  tools: words,
  expected_tools: words,
  ideal_tool_sequence: words,
  tags: words,
  openclaw_surfaces: words,
  workspace_files: z.array(workspaceFile).default([]),
  workspace_seed_dir: text.optional(),
  fixtures: anyMap.default({}),
  setup_script: text.optional(),
  teardown_script: text.optional(),
  replay_traces: z.record(z.string(), text).default({}),
  mock_responses: anyMap.default({}),
  custom_check: text.optional(),
  fault_injection: z.array(anyMap).default([]),
  efficiency_penalty_cap: z.number().min(0).max(1).default(0.3),
  efficiency_penalty_rate: z.number().nonnegative().default(0.15),
  checks: z.array(checkFileSchema).optional(),
  scoring: z.strictObject({ checks: z.array(checkFileSchema).default([]) }).optional(),
  process_requires: words,
  hidden_dir: text.optional(),
  scripted_dir: text.optional(),
  expected_outcome: carried,
  category: carried,
  description: carried,
  objective: carried,
  prerequisites: carried,
  steps: carried,
  scoring_criteria: carried,
  time_limit: carried,
});
type RawScenario = z.output<typeof rawScenarioSchema>;

/** Schema of a scenario file; its output has every default, alias and inference applied. */
export const scenarioFileSchema = z
  .preprocess(dropNulls, rawScenarioSchema.superRefine(refuseContradictions))
  .transform(toScenario);

/** `tags:` with nothing behind it is null in YAML and means "none". */
function dropNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function refuseContradictions(raw: RawScenario, context: z.RefinementCtx): void {
  if (raw.benchmark_group === 'coverage' && raw.benchmark_core) {
    context.addIssue({
      code: 'custom',
      path: ['benchmark_core'],
      message: 'a scenario of the group coverage cannot be core',
      params: { remedy: 'Set benchmark_core to false, or benchmark_group to intelligence.' },
    });
  }
  if (raw.checks !== undefined && raw.scoring !== undefined) {
    context.addIssue({
      code: 'custom',
      path: ['scoring'],
      message: 'checks stand here and at the top level; only those of the top level would count',
      params: { remedy: 'Move them all to checks.' },
    });
  }
  refuseTwice(raw.checks ?? [], ['checks'], context);
  refuseTwice(raw.scoring?.checks ?? [], ['scoring', 'checks'], context);
  raw.workspace_files.forEach((file, index) => {
    if (typeof file === 'object' && 'source' in file && file.dest !== undefined && file.path !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['workspace_files', index, 'path'],
        message: 'says the same as dest',
        params: { remedy: 'Keep dest.' },
      });
    }
  });
}

function refuseTwice(checks: readonly { id: string }[], path: string[], context: z.RefinementCtx): void {
  const seen = new Set<string>();
  checks.forEach((check, index) => {
    if (seen.has(check.id)) {
      context.addIssue({
        code: 'custom',
        path: [...path, index, 'id'],
        message: `the id "${check.id}" stands on an earlier check too`,
        params: { remedy: 'Give each check an id of its own.' },
      });
    }
    seen.add(check.id);
  });
}

function toScenario(raw: RawScenario): Scenario {
  const openclaw_surfaces = raw.openclaw_surfaces.length > 0 ? raw.openclaw_surfaces : surfacesOf(raw.tools);
  const signal_source = raw.signal_source ?? inferSignalSource(raw.execution_mode, openclaw_surfaces);
  const carriedFields = CARRIED_FIELDS.filter((field) => raw[field] !== undefined);
  return {
    id: raw.id,
    name: raw.name ?? raw.id,
    dimension: raw.dimension,
    difficulty: raw.difficulty,
    benchmark_group: raw.benchmark_group,
    benchmark_status: raw.benchmark_status,
    benchmark_core: raw.benchmark_core,
    execution_mode: raw.execution_mode,
    signal_source,
    weight: raw.weight,
    timeout_seconds: raw.timeout_seconds,
    optimal_steps: raw.optimal_steps,
    pass_threshold: raw.pass_threshold,
    prompt: raw.prompt,
    tools: raw.tools,
    expected_tools: raw.expected_tools,
    ideal_tool_sequence: raw.ideal_tool_sequence,
    tags: withDerivedTags(raw, signal_source),
    openclaw_surfaces,
    workspace_files: raw.workspace_files.map((file) => {
      if (typeof file === 'string') return { source: file, dest: defaultDestination(file) };
      if ('content' in file) return file;
      return { source: file.source, dest: file.dest ?? file.path ?? defaultDestination(file.source) };
    }),
    workspace_seed_dir: raw.workspace_seed_dir ?? null,
    fixtures: raw.fixtures,
    setup_script: raw.setup_script ?? null,
    teardown_script: raw.teardown_script ?? null,
    replay_traces: raw.replay_traces,
    mock_responses: raw.mock_responses,
    custom_check: raw.custom_check ?? null,
    fault_injection: raw.fault_injection,
    efficiency_penalty_cap: raw.efficiency_penalty_cap,
    efficiency_penalty_rate: raw.efficiency_penalty_rate,
    checks: raw.checks ?? raw.scoring?.checks ?? [],
    process_requires: raw.process_requires,
    hidden_dir: raw.hidden_dir ?? null,
    scripted_dir: raw.scripted_dir ?? null,
    carried: Object.fromEntries(carriedFields.map((field) => [field, raw[field]])),
  };
}

/** Surfaces that the prefixes of tool names show; skills, sessions, cron and agents have none and must be declared. */
function surfacesOf(tools: readonly string[]): string[] {
  const found = new Set<string>();
  for (const tool of tools) {
    for (const surface of SURFACE_OF_PREFIX) if (tool.trim().startsWith(`${surface}_`)) found.add(surface);
  }
  return [...found];
}

function inferSignalSource(mode: 'replay' | 'live', surfaces: readonly string[]): SignalSource {
  if (mode === 'replay') return 'replay';
  return surfaces.length > 0 ? 'openclaw_native' : 'workspace_live';
}

/** Derived tags are always made anew: written ones with their prefixes could contradict the fields. */
function withDerivedTags(raw: RawScenario, signalSource: SignalSource): string[] {
  return [
    ...new Set([
      ...raw.tags.filter((tag) => !isDerivedTag(tag)),
      `benchmark-${raw.benchmark_group}`,
      raw.benchmark_core ? 'benchmark-core' : 'benchmark-extended',
      `benchmark-${raw.benchmark_status}`,
      `signal-${signalSource}`,
    ]),
  ];
}

export function isDerivedTag(tag: string): boolean {
  return tag.startsWith('benchmark-') || tag.startsWith('signal-');
}

/** Where a file given as a bare path lands: what follows `fixtures/`, else its name. */
function defaultDestination(source: string): string {
  const normalised = source.replaceAll('\\', '/');
  const marker = normalised.indexOf('fixtures/');
  if (marker !== -1) return normalised.slice(marker + 'fixtures/'.length);
  return normalised.split('/').findLast((part) => part !== '') ?? normalised;
}
