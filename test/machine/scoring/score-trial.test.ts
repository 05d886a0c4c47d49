import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteLayout } from '../../../src/api/run-layout.ts';
import { emptyTrace } from '../../../src/api/trace.ts';
import { scoreStoredTrial } from '../../../src/cli/commands/score.ts';
import { createCheckerHost, type CheckerHost } from '../../../src/scoring/checkers/checker-host.ts';
import { noopBaseline } from '../../../src/scoring/noop-baseline.ts';
import { CpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { scoreTrial } from '../../../src/scoring/score-trial.ts';
import { freezeSuite } from '../../../src/suite/freeze.ts';
import { readHiddenScenario } from '../../../src/suite/frozen.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';

const scenario = (id: string, more: string) => `id: ${id}
dimension: planning
benchmark_group: intelligence
prompt: Write answer.txt.
workspace_files:
  - { path: input.txt, content: "42" }
${more}`;
const FILES = {
  'scenarios/planning/a_python.yaml': scenario('a_python', 'custom_check: answer.py\n'),
  'scenarios/planning/b_typescript.yaml': scenario('b_typescript', 'custom_check: answer.ts\n'),
  'scenarios/planning/c_declared.yaml': scenario(
    'c_declared',
    'expected_tools: [write]\nchecks:\n  - { id: written, type: file_exists, path: answer.txt }\n',
  ),
  'scenarios/planning/d_broken.yaml': scenario('d_broken', 'custom_check: broken.py\n'),
  'checkers/answer.py': `
import os
def grade(workspace, trace):
    written = os.path.exists(os.path.join(workspace, "answer.txt"))
    return {"checkpoints": {"written": {"score": int(written), "max": 1}}, "process_score": int(written)}
`,
  'checkers/answer.ts': `
import { checkpoint, fileExists, type CheckerInput, type CustomGrade } from './checker.ts';
export function grade(input: CheckerInput): CustomGrade {
  const written = fileExists(input, 'answer.txt');
  return { checkpoints: { written: checkpoint(written) }, process_score: written ? 1 : 0 };
}
`,
  'checkers/broken.py': 'def grade(workspace, trace):\n    raise KeyError("broken")\n',
};

let root: string;
let workspaceDir: string;
let host: CheckerHost;
const layout = () => suiteLayout(join(root, 'frozen'));

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'score-trial-'));
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, 'suite', path)), { recursive: true });
    writeFileSync(join(root, 'suite', path), content);
  }
  cpSync(join(import.meta.dirname, '../../../checkers/checker.ts'), join(root, 'suite/checkers/checker.ts'));
  workspaceDir = join(root, 'workspace');
  mkdirSync(workspaceDir);
  writeFileSync(join(workspaceDir, 'answer.txt'), 'done');
  const suite = await loadSuite(join(root, 'suite'));
  await freezeSuite({ suite, selection: selectScenarios(suite), target: layout().root, scripted: false });
  host = await createCheckerHost({ admission: new CpuAdmission(2) });
});

afterAll(async () => {
  await host.close();
  rmSync(root, { recursive: true, force: true });
});

const score = async (id: string, execution: 'success' | 'timeout' = 'success') =>
  scoreTrial(
    {
      hidden: await readHiddenScenario(layout(), id),
      layout: layout(),
      workspaceDir,
      trace: emptyTrace(),
      execution,
    },
    host,
  );

describe('scoring a trial', () => {
  it.each(['a_python', 'b_typescript'])('applies the formula to what its checker found: %s', async (id) => {
    expect((await score(id)).score).toMatchObject({
      scenario_id: id,
      correctness: 1,
      process: 1,
      score: 1,
      passed: true,
      outcome: 'pass',
    });
  });

  it('of an agent that timed out keeps the partial score and does not pass', async () => {
    const { score: graded } = await score('a_python', 'timeout');
    expect(graded).toMatchObject({ score: 1, passed: false, outcome: 'execution_failure' });
  });

  it('without a checker evaluates the declared checks', async () => {
    expect((await score('c_declared')).score).toMatchObject({ correctness: 1, process: 0.3 });
  });

  it('whose checker fails gives a scoring error and no score', async () => {
    const result = await score('d_broken');
    expect(result.score).toBeUndefined();
    expect(result.error?.reason).toBe('CheckerException');
  });
});

describe('the no-op baseline', () => {
  it('is the score of doing nothing, scenario by scenario', async () => {
    const suite = await loadSuite(join(root, 'suite'));
    const target = join(root, 'frozen-for-noop');
    const index = await freezeSuite({ suite, selection: selectScenarios(suite), target, scripted: false });
    const scores = await noopBaseline(suiteLayout(target), index, host);
    expect(
      scores.map(({ scenarioId, score: value, error }) => [scenarioId, value, error?.reason ?? null]),
    ).toEqual([
      ['a_python', 0, null],
      ['b_typescript', 0, null],
      ['c_declared', 0.105, null],
      ['d_broken', null, 'CheckerException'],
    ]);
  });
});

describe('clawbench score', () => {
  const options = () => {
    const trace = join(root, 'trace.json');
    writeFileSync(trace, JSON.stringify({ events: [] }));
    return { suite: join(root, 'suite'), scenario: 'b_typescript', workspace: workspaceDir, trace };
  };

  it('scores a stored trial and leaves its workspace as it is', async () => {
    expect((await scoreStoredTrial(options())).score).toMatchObject({
      scenario_id: 'b_typescript',
      passed: true,
    });
    expect(readdirSync(workspaceDir)).toEqual(['answer.txt']);
    expect(readFileSync(join(workspaceDir, 'answer.txt'), 'utf8')).toBe('done');
  });

  it('names file and field of a wrong trace', async () => {
    const wrong = { ...options(), trace: join(root, 'wrong.json') };
    writeFileSync(wrong.trace, '{"events": [{"type": "tool_call", "tool": "x", "args": {}, "seq": "one"}]}');
    await expect(scoreStoredTrial(wrong)).rejects.toThrow(/wrong\.json: events\.0\.seq: /);
  });

  it.each([
    ['trace', /nowhere: --trace: does not exist/],
    ['workspace', /nowhere: --workspace: does not exist/],
    ['scenario', /no scenario "nowhere"/],
  ])('says what is wrong with --%s', async (option, message) => {
    await expect(scoreStoredTrial({ ...options(), [option]: 'nowhere' })).rejects.toThrow(message);
  });
});
