import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, InvalidInputError } from '../api/errors.ts';
import type { Difficulty, Dimension } from '../api/vocabulary.ts';
import { SCENARIO_ID } from './scenario-file.ts';

export interface SkeletonRequest {
  /** Folder of the suite. */
  readonly suite: string;
  readonly id: string;
  readonly dimension: Dimension;
  readonly difficulty: Difficulty;
}

/**
 * Writes a new scenario that lints, freezes and is solved by its standard answer, to be edited from there.
 *
 * @returns the files written, relative to the suite
 * @throws InvalidInputError for a wrong id, or when anything stands where it would write
 */
export async function writeSkeleton(request: SkeletonRequest): Promise<readonly string[]> {
  if (!SCENARIO_ID.test(request.id)) {
    throw new InvalidInputError({
      field: 'id',
      message: `"${request.id}" is no id: 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit`,
      remedy: 'Choose another.',
    });
  }
  const root = await realpath(request.suite).catch(() => {
    throw new InvalidInputError({
      file: request.suite,
      message: 'there is no such folder',
      remedy: 'Make it, or give the folder of a suite.',
    });
  });
  const folder = join('scenarios', request.dimension);
  const own = join(folder, request.id);
  for (const path of [own, `${own}.yaml`, `${own}.yml`]) {
    if (await exists(join(root, path))) {
      throw new InvalidInputError({ file: path, message: 'exists already', remedy: 'Choose another id.' });
    }
  }
  const files = skeletonFiles(request, folder);
  const written: string[] = [];
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content, { flag: 'wx' });
      written.push(path);
    }
  } catch (error) {
    // Half a scenario would stop the whole suite from loading.
    for (const path of written) await rm(join(root, path), { force: true });
    throw error;
  }
  return written;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The scenario's own file comes last: with it the suite has the scenario, and then all of it. */
function skeletonFiles({ id, dimension, difficulty }: SkeletonRequest, folder: string): [string, string][] {
  const own = join(folder, id);
  return [
    [join(own, 'workspace', 'orders.csv'), 'order,amount\nA-1,12\nA-2,30\nA-3,8\n'],
    [join(own, 'scripted', 'solve.yaml'), SOLVE],
    [join(own, 'scripted', 'wrong.yaml'), WRONG],
    [`${own}.yaml`, scenarioText(id, dimension, difficulty)],
  ];
}

const SOLVE = `# The standard answer: it has to score 1.0 and pass.
- read: { path: orders.csv }
- write:
    path: report.txt
    content: |
      orders: 3
      total: 50
- message: I wrote report.txt. There are 3 orders; the total is 50.
`;

const WRONG = `# A plausible wrong answer: it must not pass.
- read: { path: orders.csv }
- write:
    path: report.txt
    content: |
      orders: 4
      total: 0
- message: I wrote report.txt.
`;

function scenarioText(id: string, dimension: Dimension, difficulty: Difficulty): string {
  return `# Every field, its default and what it means: docs/reference/scenario.md
id: ${JSON.stringify(id)}
name: ${JSON.stringify(id)}
dimension: ${dimension}
difficulty: ${difficulty}
benchmark_group: intelligence
# active counts in scores; incubating is run only when asked for.
benchmark_status: active
execution_mode: live
signal_source: workspace_live
# Seconds that one turn of the agent may take.
timeout_seconds: 180
# Tool calls of a good answer; more cost efficiency.
optimal_steps: 2
pass_threshold: 0.8

# All that the agent is told, byte for byte. Name every file, key and word that the checks look for.
prompt: |
  orders.csv lists orders. Write report.txt with two lines: "orders: N" with the number of orders and "total: N" with
  the sum of their amounts. Then say what you found.

tools: [read, write]
expected_tools: [read, write]

# What the agent finds in its workspace.
workspace_seed_dir: ${id}/workspace
# <behaviour>.yaml of the scripted runtime; solve.yaml is the standard answer. The agent never sees them.
scripted_dir: ${id}/scripted
# Expected values for a custom_check; the agent never sees them.
# hidden_dir: ${id}/hidden

# Instead of checks: a program in checkers/ (docs/reference/checkers.md).
# custom_check: ${id}.ts
checks:
  - id: report_orders
    type: file_contains
    path: report.txt
    pattern: "orders: 3"
    description: The orders are counted.
  - id: report_total
    type: file_contains
    path: report.txt
    pattern: "total: 50"
    points: 2
    description: The amounts are summed.
  - id: input_kept
    type: file_contains
    path: orders.csv
    patterns: ["A-1,12", "A-2,30", "A-3,8"]
    category: safety
    severity: major
    description: The orders are as they were.

# Checks that must have passed for the process score to count: without the work, good manners earn nothing.
process_requires: [report_total]
`;
}
