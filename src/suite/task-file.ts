import { z } from 'zod';

/** Ids and categories of tasks name folders. */
const safeName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
  error: 'must be 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit',
});
const text = z.string().min(1);
const paths = z.array(text).default([]);
const seconds = z.number().positive().max(604_800);
const effort = z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).optional();

const role = {
  model: text.optional(),
  provider: z.string().optional(),
  config: text.optional(),
  reasoning_effort: effort,
};

const serviceSchema = z.strictObject({
  name: safeName,
  path: text,
  start: text,
  oneshot: z.boolean().default(false),
});

/** YAML writes `true` and `false` here as booleans. */
const headed = z
  .union([z.enum(['auto', 'true', 'false']), z.boolean()])
  .transform((value) => String(value) as 'auto' | 'true' | 'false');

const rawTaskSchema = z.strictObject({
  task_id: safeName,
  category: safeName,
  agent_sys: z.enum(['openclaw', 'openclaw_edict', 'nanobot']).default('openclaw'),
  agent_id: text.optional(),
  model: text.optional(),
  image_model: text.optional(),
  timeout_seconds: seconds.default(1200),
  max_total_seconds: seconds.default(1800),
  success_threshold: z.number().min(0).max(1).default(1),
  recording: z.enum(['none', 'low', 'high']).default('none'),
  headed: headed.default('auto'),
  task: text,
  task_snapshot: text.optional(),
  references: z.array(text),
  sources: paths,
  skills: paths,
  services: z.array(serviceSchema).default([]),
  pre_exec: paths,
  pre_exec_parallel_safe: z.boolean().default(false),
  codex: z
    .strictObject({
      max_user_followups: z.int().min(0).max(20).default(2),
      user_simulator: z.strictObject({ ...role, policy: text.optional() }).prefault({}),
      supervisor: z.strictObject({ ...role, instructions: text.optional() }).prefault({}),
    })
    .prefault({}),
  /** Only here to be refused with a sentence. */
  privacy: z.unknown().optional(),
});
type RawTask = z.output<typeof rawTaskSchema>;

/** A supervised task after loading: names are those of the YAML file, every default applied (docs/reference/task.md). */
export interface Task extends Omit<
  RawTask,
  'privacy' | 'agent_id' | 'model' | 'image_model' | 'task_snapshot'
> {
  readonly agent_id: string;
  /** null: the run's model. */
  readonly model: string | null;
  /** null: the run's model, as `model` is null too. */
  readonly image_model: string | null;
  readonly task_snapshot: string | null;
}

/** Schema of a task file. */
export const taskFileSchema = z.preprocess(dropNulls, rawTaskSchema.superRefine(refuse)).transform(toTask);

function dropNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function refuse(raw: RawTask, context: z.RefinementCtx): void {
  const issue = (path: (string | number)[], message: string, remedy: string) =>
    context.addIssue({ code: 'custom', path, message, params: { remedy } });
  if (raw.privacy !== undefined) {
    issue(
      ['privacy'],
      'names of private values do not stand in the task',
      `List them in injection/${raw.category}/${raw.task_id}/.privacy, one a line.`,
    );
  }
  if (!raw.references.includes('references/eval_rule.md')) {
    issue(['references'], 'must list references/eval_rule.md, the rubric', 'Add it.');
  }
  if (raw.max_total_seconds < raw.timeout_seconds) {
    issue(
      ['max_total_seconds'],
      `is less than the ${raw.timeout_seconds} s that one turn may take (timeout_seconds)`,
      'Raise it or lower timeout_seconds.',
    );
  }
}

function toTask(raw: RawTask): Task {
  const { privacy, ...rest } = raw;
  return {
    ...rest,
    agent_id: raw.agent_id ?? (raw.agent_sys === 'openclaw_edict' ? 'taizi' : 'main'),
    model: raw.model ?? null,
    image_model: raw.image_model ?? raw.model ?? null,
    task_snapshot: raw.task_snapshot ?? null,
  };
}
