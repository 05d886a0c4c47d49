import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../../../src/api/scenario.ts';
import { derivedFields } from '../../../../src/suite/lint/rules/derived-fields.ts';
import { hiddenExposed } from '../../../../src/suite/lint/rules/hidden-exposed.ts';
import { numbers } from '../../../../src/suite/lint/rules/numbers.ts';
import { prompt } from '../../../../src/suite/lint/rules/prompt.ts';
import { standardAnswer } from '../../../../src/suite/lint/rules/standard-answer.ts';
import { toolLists } from '../../../../src/suite/lint/rules/tool-lists.ts';
import { unmentionedAnswer } from '../../../../src/suite/lint/rules/unmentioned-answer.ts';
import { unreadField } from '../../../../src/suite/lint/rules/unread-field.ts';
import { workspaceScript } from '../../../../src/suite/lint/rules/workspace-script.ts';
import { checks, findings, places } from './subject.ts';

describe('the rules of lint about fields and files', () => {
  it('prompt: an empty one', () => {
    expect(findings(prompt, { written: { prompt: ' \n' } })).toEqual([
      'error prompt: the agent is told nothing',
    ]);
  });

  it('unread-field: fixtures, replay data, a time_limit that differs, severity without safety', () => {
    expect(
      places(unreadField, {
        written: {
          fixtures: { path: 'x' },
          mock_responses: { tool: 1 },
          fault_injection: [{ type: 'timeout' }],
          replay_traces: { m: 'x.json' },
          time_limit: 60,
          checks: [{ id: 'c', type: 'file_exists', path: 'x', severity: 'major' }],
        },
      }),
    ).toEqual([
      'warning fixtures',
      'warning replay_traces',
      'warning mock_responses',
      'warning fault_injection',
      'warning time_limit',
      'warning checks.0.severity',
    ]);
    expect(places(unreadField, { written: { fixtures: {}, time_limit: 180, mock_responses: {} } })).toEqual(
      [],
    );
  });

  it.each([
    [{ pass_threshold: 1.2 }, ['error pass_threshold']],
    [{ pass_threshold: -0.1 }, ['error pass_threshold']],
    [{ pass_threshold: 0 }, ['warning pass_threshold']],
    [{ weight: 0 }, ['warning weight']],
    [{ timeout_seconds: 2 }, ['warning timeout_seconds']],
    [{ timeout_seconds: 100_000 }, ['warning timeout_seconds']],
    [{ optimal_steps: 0 }, ['warning optimal_steps']],
    [{ optimal_steps: 1, ideal_tool_sequence: ['a', 'b'] }, ['warning optimal_steps']],
    [{ ideal_tool_sequence: ['a', 'b', 'c', 'd', 'e', 'f'] }, ['warning ideal_tool_sequence']],
    [{ pass_threshold: 1, optimal_steps: 2, ideal_tool_sequence: ['a', 'b'] }, []],
  ])('numbers: %j', (written, expected) => {
    expect(places(numbers, { written })).toEqual(expected);
  });

  it('tool-lists: an ideal sequence with a tool that is not expected', () => {
    const lists = { tools: ['read', 'write', 'exec'], expected_tools: ['read', 'write'] };
    expect(places(toolLists, { written: { ...lists, ideal_tool_sequence: ['read', 'exec'] } })).toEqual([
      'warning ideal_tool_sequence.1',
    ]);
    expect(places(toolLists, { written: { ...lists, ideal_tool_sequence: ['read', 'write'] } })).toEqual([]);
    expect(places(toolLists, { written: { ideal_tool_sequence: ['read'] } })).toEqual([]);
  });

  it('derived-fields: tags and signal sources that contradict', () => {
    const tags = ['benchmark-core', 'benchmark-intelligence', 'mine'];
    expect(places(derivedFields, { written: { tags } })).toEqual(['warning tags.0']);
    const native = { signal_source: 'openclaw_native' };
    expect(places(derivedFields, { written: native })).toEqual(['warning signal_source']);
    expect(places(derivedFields, { written: { ...native, openclaw_surfaces: ['cron'] } })).toEqual([]);
    expect(places(derivedFields, { written: { execution_mode: 'replay' } })).toEqual([
      'warning execution_mode',
    ]);
  });

  it('workspace-script: one that looks for its own path', () => {
    expect(places(workspaceScript, { setupScript: 'cd "$(dirname "$0")"' })).toEqual([
      'warning setup_script',
    ]);
    expect(places(workspaceScript, { setupScript: 'source ${BASH_SOURCE[0]%/*}/x' })).toHaveLength(1);
    expect(places(workspaceScript, { setupScript: 'chmod 444 "$PWD/out" && echo $1' })).toEqual([]);
  });

  it.each([
    ['hidden_dir', { hidden_dir: 'data/a/hidden' }, {}],
    ['scripted_dir', { scripted_dir: 'data/a/scripted' }, {}],
    ['the checker', {}, { checker: 'data/a/check.py' }],
  ])('hidden-exposed: %s inside the seed folder', (_name, paths, more) => {
    const inside = { paths: { workspace_seed_dir: 'data/a', ...paths }, ...more };
    expect(places(hiddenExposed, inside)).toEqual(['error workspace_seed_dir']);
    const apart = { paths: { 'workspace_files[0].source': 'data/a/hid', ...paths }, ...more };
    expect(places(hiddenExposed, apart)).toEqual([]);
  });

  it('hidden-exposed: the scenario file itself, given with its folder', () => {
    expect(places(hiddenExposed, { paths: { workspace_seed_dir: 'scenarios/planning' } })).toHaveLength(1);
    expect(places(hiddenExposed, { paths: { 'workspace_files[2].source': 'scenarios' } })).toEqual([
      'error workspace_files.2.source',
    ]);
  });

  it('hidden-exposed: a workspace inside hidden_dir is only worth a look', () => {
    const paths = { workspace_seed_dir: 'data/a/workspace', hidden_dir: 'data/a' };
    expect(places(hiddenExposed, { paths })).toEqual(['warning hidden_dir']);
  });

  it('hidden-exposed: the same content, under another name or quoted', () => {
    const hidden = { 'expected.json': '{"winner": "A-17"}' };
    expect(findings(hiddenExposed, { hidden, workspace: { 'old.json': '{"winner": "A-17"}' } })).toEqual([
      'error hidden_dir: expected.json is the same as old.json in the workspace',
    ]);
    expect(findings(hiddenExposed, { hidden, written: { prompt: 'It is {"winner":\n"A-17"}.' } })).toEqual([
      'error hidden_dir: the prompt quotes expected.json whole',
    ]);
    expect(places(hiddenExposed, { hidden, workspace: { 'log.txt': 'x {"winner":"A-17"} y' } })).toHaveLength(
      1,
    );
    const short = { hidden: { 'a.json': '{}', 'b.txt': '' }, workspace: { 'c.json': '{}', 'd.txt': '' } };
    expect(places(hiddenExposed, short)).toEqual([]);
  });

  it('unmentioned-answer: a file that only the check knows', () => {
    const made = checks({ type: 'file_exists', path: 'report/final.md' });
    expect(places(unmentionedAnswer, made)).toEqual(['warning checks.0.path']);
    expect(places(unmentionedAnswer, { written: { ...made.written, prompt: 'Write Final.md.' } })).toEqual(
      [],
    );
    expect(places(unmentionedAnswer, { ...made, workspace: { 'README.md': 'to report/final.md' } })).toEqual(
      [],
    );
  });

  it('unmentioned-answer: keys and words of a hidden file that nobody is told', () => {
    const hidden = { 'expected.json': '{"verdict": "needs_review", "total": 12, "note": "free text here"}' };
    expect(findings(unmentionedAnswer, { hidden })).toEqual([
      'warning hidden_dir: expected.json expects what neither the prompt nor a file of the workspace mentions: key "verdict", key "note", "needs_review"',
    ]);
    const told = { prompt: 'Write verdict (ok or needs_review), total and note to out.txt.' };
    expect(places(unmentionedAnswer, { hidden, written: told })).toEqual([]);
  });

  it('unmentioned-answer: what the standard answer does without is bookkeeping of the checker', () => {
    const hidden = { 'expected.json': '{"answer": {"verdict": "deny"}}' };
    const scripts = { solve: [{ write: { path: 'out.txt', content: '{"verdict": "deny"}' } }] };
    expect(findings(unmentionedAnswer, { hidden, scripts })[0]).toMatch(/mentions: key "verdict", "deny"$/);
  });

  it('standard-answer: missing where other scenarios have one', () => {
    expect(places(standardAnswer, { suiteHasScripts: true })).toEqual(['warning scripted_dir']);
    expect(places(standardAnswer)).toEqual([]);
    const wrongOnly = { written: { scripted_dir: 's' }, scripts: { wrong: [{ message: 'x' }] } };
    expect(findings(standardAnswer, wrongOnly)).toEqual([
      'error scripted_dir: has no solve.yaml, the standard answer',
    ]);
  });

  it('standard-answer: steps that cannot be executed, up to the first command', () => {
    const script = (...solve: ScriptStep[]) =>
      places(standardAnswer, {
        written: { scripted_dir: 's' },
        workspace: { 'in.txt': 'one two' },
        scripts: { solve: [...solve, { message: 'done' }] },
      });
    expect(script({ read: { path: 'in.text' } })).toHaveLength(1);
    expect(script({ edit: { path: 'in.txt', old: 'three', new: 'x' } })).toHaveLength(1);
    expect(script({ write: { path: '../x', content: '' } })).toHaveLength(1);
    expect(script({ fail: 1 })).toHaveLength(1);
    expect(
      script(
        { edit: { path: 'in.txt', old: 'two', new: '$& 2' } },
        { edit: { path: 'in.txt', old: '$& 2', new: 'x' } },
        { write: { path: 'out.txt', content: 'a' } },
        { read: { path: 'out.txt' } },
        { shell: 'make' },
        { read: { path: 'made-by-make.txt' } },
      ),
    ).toEqual([]);
  });

  it('standard-answer: one that says nothing', () => {
    const silent = { written: { scripted_dir: 's' }, scripts: { solve: [{ wait: 1 }] } };
    expect(places(standardAnswer, silent)).toEqual(['warning scripted_dir']);
  });
});
