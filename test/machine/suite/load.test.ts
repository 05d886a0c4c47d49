import { execFile } from 'node:child_process';
import { mkdir, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import { CHECKS, cleanUp, folderWith, problemsOf, scenario } from './suite-on-disk.ts';

cleanUp();

const scenariosOf = async (root: string) => {
  const suite = await loadSuite(root);
  return suite.format === 'scenario' ? suite.scenarios : [];
};

describe('loadSuite', () => {
  it('fills in every default and inference', async () => {
    const root = await folderWith({
      'a.yaml':
        'id: a\ndimension: safety\nbenchmark_group: coverage\ntools: [gmail_send, im_post, gmail_read]\ntags:\n',
    });
    expect((await scenariosOf(root))[0]?.scenario).toEqual({
      id: 'a',
      name: 'a',
      dimension: 'safety',
      difficulty: 'medium',
      benchmark_group: 'coverage',
      benchmark_status: 'active',
      benchmark_core: false,
      execution_mode: 'replay',
      signal_source: 'replay',
      weight: 1,
      timeout_seconds: 180,
      optimal_steps: 5,
      pass_threshold: 0.6,
      prompt: '',
      tools: ['gmail_send', 'im_post', 'gmail_read'],
      expected_tools: [],
      ideal_tool_sequence: [],
      tags: ['benchmark-coverage', 'benchmark-extended', 'benchmark-active', 'signal-replay'],
      openclaw_surfaces: ['gmail', 'im'],
      workspace_files: [],
      workspace_seed_dir: null,
      fixtures: {},
      setup_script: null,
      teardown_script: null,
      replay_traces: {},
      mock_responses: {},
      custom_check: null,
      fault_injection: [],
      efficiency_penalty_cap: 0.3,
      efficiency_penalty_rate: 0.15,
      checks: [],
      process_requires: [],
      hidden_dir: null,
      scripted_dir: null,
      carried: {},
    });
  });

  it('infers the signal source of live scenarios from their surfaces', async () => {
    const root = await folderWith({
      'a.yaml': scenario('a'),
      'b.yaml': scenario('b', 'tools: [memory_search]'),
      'c.yaml': scenario('c', 'openclaw_surfaces: [cron]', 'tools: [memory_search]'),
    });
    const found = (await scenariosOf(root)).map(({ scenario: one }) => [
      one.signal_source,
      one.openclaw_surfaces,
    ]);
    expect(found).toEqual([
      ['workspace_live', []],
      ['openclaw_native', ['memory']],
      ['openclaw_native', ['cron']],
    ]);
  });

  it('resolves the aliases of checks and the forms of workspace files', async () => {
    const root = await folderWith({
      'a.yaml': scenario(
        'a',
        'workspace_files: [../data/fixtures/sub/x.txt, {path: y, content: z}, {source: p/q.txt}, {source: r, dest: s}]',
        'scoring:',
        '  checks:',
        '  - {id: a, type: tool_called, tool: t, min_calls: 2, max_calls: 3}',
        '  - {id: b, type: tool_count_score, tool: t, ideal_count: 4}',
        '  - {id: c, type: response_contains, pattern: 42}',
        '  - {id: d, type: tool_response_contains, tool: t, patterns: [x, y]}',
      ),
    });
    const loaded = (await scenariosOf(root))[0]?.scenario;
    expect(loaded?.workspace_files).toEqual([
      { source: '../data/fixtures/sub/x.txt', dest: 'sub/x.txt' },
      { path: 'y', content: 'z' },
      { source: 'p/q.txt', dest: 'q.txt' },
      { source: 'r', dest: 's' },
    ]);
    const common = { points: 1, category: 'correctness', severity: 'major', description: '' };
    expect(loaded?.checks).toEqual([
      { ...common, id: 'a', type: 'tool_called', tool: 't', min_count: 2, max_count: 3 },
      { ...common, id: 'b', type: 'tool_count_score', tool: 't', target_count: 4, tolerance: 0 },
      { ...common, id: 'c', type: 'response_contains', patterns: ['42'] },
      { ...common, id: 'd', type: 'tool_response_contains', tool: 't', patterns: ['x', 'y'], path: 'result' },
    ]);
  });

  it('takes no YAML of a scenario’s own data for a scenario', async () => {
    const root = await folderWith({
      'scenarios/p/a.yaml': scenario(
        'a',
        'workspace_seed_dir: ../../scenarios/data/seed',
        'scripted_dir: scenarios/s',
      ),
      'scenarios/p/a/mutants.yaml': '- 1',
      'scenarios/data/seed/deploy.yaml': 'kind: [',
      'scenarios/s/solve.yaml': '- message: x',
      'checkers/not-one.yaml': 'x: 1',
    });
    expect((await scenariosOf(root)).map(({ file }) => file)).toEqual(['scenarios/p/a.yaml']);
  });

  it('names every problem of every file: misspelt, unknown, missing, wrong type, wrong word', async () => {
    const root = await folderWith({
      'scenarios/a.yaml': scenario('a', 'timeout_second: 5', 'colour: red', 'weight: heavy'),
      'scenarios/b.yaml': 'id: b\ndimension: plannning\n',
      'scenarios/c.yaml': scenario(
        'c',
        'checks:',
        '- id: x',
        '  type: file_exsts',
        '  path: y',
        '- id: y',
        '  type: file_exists',
        '  pathh: z',
      ),
      'scenarios/d.yaml': 'id: d\ntags: [x\n',
      'scenarios/e.yaml': '- a list',
    });
    const problems = await problemsOf(() => loadSuite(root));
    expect(problems.map(({ file, line, field }) => `${file}:${line} ${field}`)).toEqual([
      'scenarios/a.yaml:6 timeout_second',
      'scenarios/a.yaml:7 colour',
      'scenarios/a.yaml:8 weight',
      'scenarios/b.yaml:1 benchmark_group',
      'scenarios/b.yaml:2 dimension',
      'scenarios/c.yaml:8 checks[0].type',
      'scenarios/c.yaml:12 checks[1].pathh',
      'scenarios/d.yaml:3 undefined',
      'scenarios/e.yaml:1 undefined',
    ]);
    const remedy = (field: string) => problems.find((problem) => problem.field === field)?.remedy;
    expect(remedy('timeout_second')).toBe('Did you mean "timeout_seconds"?');
    expect(remedy('colour')).toMatch(/^Remove it; the fields are benchmark_core, /);
    expect(remedy('dimension')).toBe('Did you mean "planning"?');
    expect(remedy('checks[0].type')).toBe('Did you mean "file_exists"?');
    expect(remedy('checks[1].pathh')).toBe('Did you mean "path"?');
    expect(problems.find(({ field }) => field === 'weight')?.message).toBe('must be a number, not "heavy"');
  });

  it.each([
    ['coverage as core', 'benchmark_group: coverage\nbenchmark_core: true', 'benchmark_core'],
    [
      'two ids alike',
      'benchmark_group: coverage\nchecks: [{id: x, type: file_exists, path: a}, {id: x, type: file_exists, path: b}]',
      'checks[1].id',
    ],
    [
      'pattern and patterns',
      'benchmark_group: coverage\nchecks: [{id: x, type: response_contains, pattern: a, patterns: [b]}]',
      'checks[0].patterns',
    ],
    [
      'no pattern',
      'benchmark_group: coverage\nchecks: [{id: x, type: response_contains}]',
      'checks[0].patterns',
    ],
    ['checks in two places', 'benchmark_group: coverage\nchecks: []\nscoring: {checks: []}', 'scoring'],
    [
      'a file with neither content nor source',
      'benchmark_group: coverage\nworkspace_files: [{path: a}]',
      'workspace_files[0].content',
    ],
    ['an id that is no name', 'benchmark_group: coverage\nid: ../x', 'id'],
  ])('refuses %s', async (_name, text, field) => {
    const id = text.includes('\nid:') ? '' : 'id: a\n';
    const root = await folderWith({ 'a.yaml': `${id}dimension: safety\n${text}\n` });
    expect((await problemsOf(() => loadSuite(root))).map((problem) => problem.field)).toEqual([field]);
  });

  it('names both files of an id that stands twice', async () => {
    const root = await folderWith({ 'a.yaml': scenario('same'), 'b.yaml': scenario('same') });
    expect(await problemsOf(() => loadSuite(root))).toEqual([
      {
        file: 'b.yaml',
        line: 1,
        field: 'id',
        message: '"same" is the id of a.yaml too',
        remedy: 'Give each an id of its own.',
      },
    ]);
  });

  it('refuses 20 MB, what is not UTF-8, an alias bomb, a link and a special file, each named, and quickly', async () => {
    const bomb = Array.from({ length: 12 }, (_, i) =>
      i === 0
        ? 'a0: &a0 x'
        : `a${i}: &a${i} [${Array(10)
            .fill(`*a${i - 1}`)
            .join(',')}]`,
    );
    const root = await folderWith({
      'big.yaml': '',
      'bomb.yaml': bomb.join('\n'),
      'latin.yaml': Buffer.from('id: caf\xe9\n', 'latin1'),
    });
    await truncate(join(root, 'big.yaml'), 20_000_000);
    await symlink('/etc/hostname', join(root, 'link.yaml'));
    await promisify(execFile)('mkfifo', [join(root, 'pipe.yaml')]);
    const started = performance.now();
    const problems = await problemsOf(() => loadSuite(root));
    expect(problems.map(({ file, message }) => `${file} ${message}`)).toEqual([
      'big.yaml is 19.1 MiB, more than the 4.0 MiB that a YAML file may have',
      'bomb.yaml unfolds to more than 16 MiB when its aliases are written out',
      'latin.yaml is not UTF-8: byte 7 is 0xe9',
      'link.yaml is a link; a suite holds its files itself',
      'pipe.yaml is a special file, not a file',
    ]);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('refuses a folder that is missing, empty, a file, or reached by a link inside', async () => {
    const root = await folderWith({ 'file.txt': '', 'real/a.yaml': scenario('a') });
    await mkdir(join(root, 'empty'));
    await mkdir(join(root, 'linked'));
    await symlink('../real', join(root, 'linked', 'scenarios'));
    for (const path of ['missing', 'empty', 'file.txt', 'linked']) {
      expect(await problemsOf(() => loadSuite(join(root, path)))).toHaveLength(1);
    }
  });

  it('lists without resolving: missing data is no problem', async () => {
    const root = await folderWith({
      'a.yaml': scenario('a', 'workspace_seed_dir: nowhere', 'custom_check: no.py'),
    });
    expect(await scenariosOf(root)).toHaveLength(1);
  });
});

describe('loadSuite of tasks', () => {
  const task = (id: string, ...more: string[]) =>
    [
      `task_id: ${id}`,
      'category: 101_x',
      'task: Do it.',
      'references: [references/eval_rule.md]',
      ...more,
      '',
    ].join('\n');

  it('tells the format from the fields and fills in the defaults', async () => {
    const root = await folderWith({
      'tasks/101_x/t1.yaml': task('t1', 'agent_sys: openclaw_edict', 'model: m', 'headed: true'),
    });
    const suite = await loadSuite(root);
    expect(suite.format === 'task' ? suite.tasks[0]?.task : undefined).toEqual({
      task_id: 't1',
      category: '101_x',
      agent_sys: 'openclaw_edict',
      agent_id: 'taizi',
      model: 'm',
      image_model: 'm',
      timeout_seconds: 1200,
      max_total_seconds: 1800,
      success_threshold: 1,
      recording: 'none',
      headed: 'true',
      task: 'Do it.',
      task_snapshot: null,
      references: ['references/eval_rule.md'],
      sources: [],
      skills: [],
      services: [],
      pre_exec: [],
      pre_exec_parallel_safe: false,
      codex: { max_user_followups: 2, user_simulator: {}, supervisor: {} },
    });
    expect(selectScenarios(suite, { groups: ['101_x'] }).ids).toEqual(['t1']);
  });

  it('refuses a privacy field, a missing rubric, ids that are no names and a total below a turn', async () => {
    const root = await folderWith({
      'tasks/a.yaml': task('t1', 'privacy: [TOKEN]', 'timeout_seconds: 2000'),
      'tasks/b.yaml': 'task_id: a/b\ncategory: ..\ntask: x\nreferences: []\n',
      'tasks/c.yaml': 'task_id: c\ncategory: x\ntask: x\nreferences: [other.md]\n',
    });
    expect((await problemsOf(() => loadSuite(root))).map(({ file, field }) => `${file} ${field}`)).toEqual([
      'tasks/a.yaml max_total_seconds',
      'tasks/a.yaml privacy',
      'tasks/b.yaml task_id',
      'tasks/b.yaml category',
      'tasks/b.yaml references',
      'tasks/c.yaml references',
    ]);
  });

  it('refuses private values that are missing, empty or placeholders, and never shows one', async () => {
    const root = await folderWith({
      'tasks/a.yaml': task('t1'),
      'injection/101_x/t1/.privacy': '# comment\nGOOD\nMISSING\nEMPTY # why\n\nPLACE\nnot a name\n',
    });
    await expect(loadSuite(root)).resolves.toBeDefined();
    const environment = { GOOD: 'secret-value', EMPTY: ' ', PLACE: 'your-token-here' };
    const problems = await problemsOf(() => loadSuite(root, 'auto', { environment }));
    expect(problems.map(({ line, field, message }) => `${line} ${field}: ${message}`)).toEqual([
      '3 MISSING: the value that task t1 needs is missing',
      '4 EMPTY: the value that task t1 needs is empty',
      '6 PLACE: the value that task t1 needs is a placeholder',
      '7 undefined: "not a name" is not the name of an environment variable',
    ]);
    expect(JSON.stringify(problems)).not.toContain('secret-value');
  });
});

describe('selectScenarios', () => {
  const suiteOf = async () =>
    await loadSuite(
      await folderWith({
        'a.yaml': scenario('a', CHECKS, 'difficulty: hard', 'tags: [x]'),
        'b.yaml': scenario('b', CHECKS, 'benchmark_core: true', 'openclaw_surfaces: [cron]'),
        'c.yaml': scenario('c', CHECKS, 'benchmark_status: incubating'),
      }),
    );

  it('combines selectors, widens within one, and says what was left out', async () => {
    const suite = await suiteOf();
    const ids = (selector: Parameters<typeof selectScenarios>[1]) => selectScenarios(suite, selector).ids;
    expect(ids({})).toEqual(['a', 'b']);
    expect(ids({ difficulties: ['hard', 'medium'] })).toEqual(['a', 'b']);
    expect(ids({ difficulties: ['hard'], tags: ['x', 'y'] })).toEqual(['a']);
    expect(ids({ surfaces: ['cron'] })).toEqual(['b']);
    expect(ids({ tags: ['benchmark-core'] })).toEqual(['b']);
    expect(ids({ status: 'all', exclude: ['a'] })).toEqual(['b', 'c']);
    expect(selectScenarios(suite, { profile: 'core' })).toMatchObject({ partial: true, excluded: ['a'] });
    expect(selectScenarios(suite, { status: 'all' })).toMatchObject({ partial: false, excluded: [] });
  });

  it('lets explicit ids bypass profile and status, not the other selectors', async () => {
    const suite = await suiteOf();
    expect(selectScenarios(suite, { scenarioIds: ['c'], profile: 'core' }).ids).toEqual(['c']);
    const refused = problemsOf(async () =>
      Promise.resolve(selectScenarios(suite, { scenarioIds: ['c'], tags: ['x'] })),
    );
    expect((await refused)[0]?.field).toBe('tags');
  });

  it('names the selector that emptied the selection, and unknown ids with the one meant', async () => {
    const suite = await suiteOf();
    const refused = async (selector: Parameters<typeof selectScenarios>[1]) =>
      (await problemsOf(async () => Promise.resolve(selectScenarios(suite, selector)))).map(
        ({ field }) => field,
      );
    expect(await refused({ dimensions: ['safety'], tags: ['x'] })).toEqual(['dimensions']);
    expect(await refused({ tags: ['realistic-holdout'] })).toEqual(['tags']);
    expect(await refused({ profile: 'coverage' })).toEqual(['profile']);
    expect(await refused({ exclude: ['a', 'b'] })).toEqual(['exclude']);
    expect(await refused({ scenarioIds: ['aa'], exclude: ['zz'] })).toEqual(['scenarioIds', 'exclude']);
  });
});
