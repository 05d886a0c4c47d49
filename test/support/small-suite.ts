import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';

export interface SmallSuiteOptions {
  readonly scenarios?: number;
  /** Steps of the standard answer before its writing, e.g. `{ wait: 1 }`. */
  readonly before?: readonly Record<string, unknown>[];
}

/** Writes a suite of scenarios `s1`, `s2`, ...: each wants `answer.txt` with the word of its `question.txt`. */
export async function writeSmallSuite(root: string, options: SmallSuiteOptions = {}): Promise<void> {
  for (let i = 1; i <= (options.scenarios ?? 2); i += 1) {
    const id = `s${i}`;
    const scripted = join(root, 'scenarios', id, 'scripted');
    await mkdir(scripted, { recursive: true });
    await writeFile(join(root, 'scenarios', `${id}.yaml`), stringify(scenario(id)));
    const solve = [
      ...(options.before ?? []),
      { read: { path: 'question.txt' } },
      { write: { path: 'answer.txt', content: `word-${id}\n` } },
      { message: 'The answer is written.' },
    ];
    await writeFile(join(scripted, 'solve.yaml'), stringify(solve));
  }
}

function scenario(id: string) {
  return {
    id,
    dimension: 'planning',
    benchmark_group: 'intelligence',
    execution_mode: 'live',
    prompt: 'Copy the word of question.txt to answer.txt.',
    expected_tools: ['read', 'write'],
    workspace_files: [{ path: 'question.txt', content: `word-${id}\n` }],
    scripted_dir: `scenarios/${id}/scripted`,
    process_requires: ['word'],
    checks: [
      { id: 'written', type: 'file_exists', path: 'answer.txt' },
      { id: 'word', type: 'file_contains', path: 'answer.txt', pattern: `word-${id}` },
    ],
  };
}

/** Writes a BenchmarkRun of the scripted runtime; `spec` is merged over its own. */
export async function writeRunFile(path: string, spec: Record<string, unknown> = {}): Promise<void> {
  const run = {
    apiVersion: 'clawbench.dev/v1alpha1',
    kind: 'BenchmarkRun',
    metadata: { name: 'small' },
    spec: {
      suite: { builtin: {} },
      runtime: { id: 'scripted' },
      trialsPerScenario: 2,
      timeouts: { settle: 0 },
      retry: { backoffSeconds: 0 },
      ...spec,
    },
  };
  await writeFile(path, stringify(run));
}
