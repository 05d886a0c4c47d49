import { execFile } from 'node:child_process';
import { chmod, link, lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { suiteLayout } from '../../../src/api/run-layout.ts';
import { freezeSuite } from '../../../src/suite/freeze.ts';
import {
  readHiddenScenario,
  readPublicScenario,
  readSuiteIndex,
  verifyFrozenSuite,
} from '../../../src/suite/frozen.ts';
import { lintSuite } from '../../../src/suite/lint/lint-suite.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import { CHECKS, cleanUp, folderWith, problemsOf, scenario } from './suite-on-disk.ts';

cleanUp();

const freeze = async (root: string, target: string, scripted = true) => {
  const suite = await loadSuite(root);
  return await freezeSuite({ suite, selection: selectScenarios(suite), target, scripted });
};

const FULL = {
  'scenarios/p/a.yaml': scenario(
    'a',
    'workspace_seed_dir: a/seed',
    'workspace_files: [../../data/fixtures/sub/x.txt, {path: made/y.txt, content: "ä\\n"}, {source: data/fixtures, dest: all}]',
    'setup_script: ../../data/setup.sh',
    'hidden_dir: a/hidden',
    'scripted_dir: a/scripted',
    'custom_check: deep/a.py',
    'process_requires: [x]',
    'optimal_steps: 7',
  ),
  'scenarios/p/a/seed/in.txt': 'input',
  'scenarios/p/a/seed/run.sh': '#!/bin/sh\n',
  'scenarios/p/a/hidden/expected.json': '{"total": 50, "x": 1}',
  'scenarios/p/a/scripted/solve.yaml': '- message: done\n',
  'scenarios/p/b.yaml': scenario('b', CHECKS),
  'data/fixtures/sub/x.txt': 'x',
  'data/setup.sh': 'chmod 444 in.txt\n',
  'custom_checks/deep/a.py': 'def grade(w, t): return {}\n',
  'custom_checks/deep/__pycache__/a.pyc': 'no',
  'harness/__init__.py': '',
  'datasets/d.csv': '1,2',
  'results/big.json': 'no',
};

const listing = async (root: string) =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();

describe('freezeSuite', () => {
  it('parts public from hidden and scripted, with everything a scenario names', async () => {
    const root = await folderWith(FULL);
    await chmod(join(root, 'scenarios/p/a/seed/run.sh'), 0o700);
    const target = join(await folderWith(), 'suite');
    const index = await freeze(root, target);
    const layout = suiteLayout(target);
    const bundle = index.scenarios[0]?.checkerDigest ?? '';
    expect(await listing(target)).toEqual(
      [
        'files.json',
        'index.json',
        'hidden/a/files/expected.json',
        'hidden/a/hidden.json',
        'hidden/a/scenario.yaml',
        'hidden/b/hidden.json',
        'hidden/b/scenario.yaml',
        `hidden/.checkers/${bundle}/custom_checks/deep/a.py`,
        `hidden/.checkers/${bundle}/datasets/d.csv`,
        `hidden/.checkers/${bundle}/harness/__init__.py`,
        'public/a/prompt.md',
        'public/a/public.json',
        'public/a/workspace/all/sub/x.txt',
        'public/a/workspace/in.txt',
        'public/a/workspace/made/y.txt',
        'public/a/workspace/run.sh',
        'public/a/workspace/sub/x.txt',
        'public/b/prompt.md',
        'public/b/public.json',
        'scripted/a/solve.yaml',
      ].sort(),
    );
    expect(await readFile(join(target, 'public/a/prompt.md'), 'utf8')).toBe('Write out.txt.');
    expect(await readSuiteIndex(layout)).toEqual(index);
    expect(await readPublicScenario(layout, 'a')).toMatchObject({
      setupScript: 'chmod 444 in.txt\n',
      turn: 180,
    });
    expect(await readHiddenScenario(layout, 'a')).toMatchObject({
      scenario: { optimal_steps: 7, process_requires: ['x'] },
      checker: { language: 'python', bundle, entry: 'custom_checks/deep/a.py' },
    });
    expect(index.scenarios.map(({ id, scripted }) => [id, scripted])).toEqual([
      ['a', ['solve']],
      ['b', []],
    ]);
    const mode = async (path: string) => (await lstat(join(target, path))).mode & 0o7777;
    expect([
      await mode('public/a/workspace/run.sh'),
      await mode('public/a/workspace/in.txt'),
      await mode('hidden'),
    ]).toEqual([0o755, 0o644, 0o755]);
    expect(await verifyFrozenSuite(layout)).toEqual([]);
  });

  it('says nothing hidden in what is public', async () => {
    const target = join(await folderWith(), 'suite');
    await freeze(await folderWith(FULL), target);
    for (const path of await listing(join(target, 'public'))) {
      expect(await readFile(join(target, 'public', path), 'utf8')).not.toMatch(
        /expected|optimal|custom_check|grade/,
      );
    }
  });

  it('gives identical bytes for identical input, whatever umask, times and place', async () => {
    const [one, other] = [await folderWith(FULL), await folderWith(FULL)];
    await utimes(join(other, 'datasets/d.csv'), 1, 1);
    await chmod(join(other, 'datasets/d.csv'), 0o660);
    const targets = await folderWith();
    const umask = process.umask(0o077);
    try {
      await freeze(one, join(targets, 'one'));
    } finally {
      process.umask(umask);
    }
    await freeze(other, join(targets, 'other'));
    const { stdout } = await promisify(execFile)('diff', ['-r', 'one', 'other'], { cwd: targets });
    expect(stdout).toBe('');
    const modes = async (name: string) =>
      await Promise.all(
        (await listing(join(targets, name))).map(
          async (path) => (await lstat(join(targets, name, path))).mode,
        ),
      );
    expect(await modes('one')).toEqual(await modes('other'));
  });

  it('changes only the digests of what changed', async () => {
    const root = await folderWith(FULL);
    const targets = await folderWith();
    const before = await freeze(root, join(targets, 'before'));
    await writeFile(join(root, 'scenarios/p/a/hidden/expected.json'), '{}');
    const after = await freeze(root, join(targets, 'after'));
    expect(after.suiteDigest).not.toBe(before.suiteDigest);
    expect(after.scenarios[0]?.digest).not.toBe(before.scenarios[0]?.digest);
    expect(after.scenarios[0]?.workspaceDigest).toBe(before.scenarios[0]?.workspaceDigest);
    expect(after.scenarios[0]?.checkerDigest).toBe(before.scenarios[0]?.checkerDigest);
    expect(after.scenarios[1]).toEqual(before.scenarios[1]);
  });

  it('binds the same digests with and without the scripts of the scripted runtime', async () => {
    const root = await folderWith(FULL);
    const targets = await folderWith();
    const withScripts = await freeze(root, join(targets, 'with'));
    const without = await freeze(root, join(targets, 'without'), false);
    expect(without).toEqual(withScripts);
    expect(await listing(join(targets, 'without', 'scripted'))).toEqual([]);
    expect(await verifyFrozenSuite(suiteLayout(join(targets, 'without')))).toEqual([]);
  });

  it('leaves a target alone that holds the same suite, refuses one that holds another, and leaves nothing half made', async () => {
    const root = await folderWith(FULL);
    const targets = await folderWith({ 'taken/file': '' });
    const target = join(targets, 'suite');
    const first = await freeze(root, target);
    expect(await freeze(root, target)).toEqual(first);
    await writeFile(join(root, 'data/setup.sh'), 'true\n');
    expect(await problemsOf(() => freeze(root, target))).toHaveLength(1);
    expect(await problemsOf(() => freeze(root, join(targets, 'taken')))).toHaveLength(1);
    expect((await readdir(targets)).sort()).toEqual(['suite', 'taken']);
    expect(await readSuiteIndex(suiteLayout(target))).toEqual(first);
  });

  it('keeps a prompt byte for byte', async () => {
    const text = '  leading\r\nä \u2028 "quoted"\n\n';
    const root = await folderWith({
      'a.yaml': `${scenario('a', CHECKS).replace(/prompt: .*\n/, '')}prompt: ${JSON.stringify(text)}\n`,
    });
    const target = join(await folderWith(), 'suite');
    await freeze(root, target);
    expect(await readFile(join(target, 'public/a/prompt.md'))).toEqual(Buffer.from(text));
  });
});

describe('verifyFrozenSuite', () => {
  it('finds every change to the bytes, the mode and the set of files', async () => {
    const target = join(await folderWith(), 'suite');
    await freeze(await folderWith(FULL), target);
    await writeFile(join(target, 'hidden/a/files/expected.json'), '{"total": 51, "x": 1}');
    await writeFile(join(target, 'public/b/extra.txt'), '');
    await chmod(join(target, 'public/a/workspace/in.txt'), 0o755);
    const problems = await verifyFrozenSuite(suiteLayout(target));
    expect(problems.map(({ file, field, message }) => `${file} ${field ?? ''}${message}`).sort()).toEqual([
      'hidden/a/files/expected.json was changed',
      'index.json aits digest does not follow from its files',
      'index.json bits digest does not follow from its files',
      'public/a/workspace/in.txt has another mode than 0644',
      'public/b/extra.txt does not belong to the frozen suite',
    ]);
  });
});

describe('a suite that reaches outside of itself', () => {
  it.each([
    ['workspace_seed_dir: ../../..', 'workspace_seed_dir', 'leads out of the suite'],
    ['workspace_seed_dir: /etc', 'workspace_seed_dir', 'is an absolute path'],
    ['workspace_seed_dir: missing', 'workspace_seed_dir', 'does not exist'],
    ['workspace_seed_dir: a.yaml', 'workspace_seed_dir', 'is a file'],
    ['workspace_seed_dir: ../linked', 'workspace_seed_dir', 'linked is a link'],
    ['workspace_seed_dir: ../holds-link', 'workspace_seed_dir', 'holds-link/passwd is a link'],
    ['workspace_files: [../../../etc/passwd]', 'workspace_files[0].source', 'leads out of the suite'],
    [
      'workspace_files: [{source: a.yaml, dest: ../../x}]',
      'workspace_files[0].dest',
      'leads out of the workspace',
    ],
    [
      'workspace_files: [{path: /tmp/x, content: ""}]',
      'workspace_files[0].path',
      'leads out of the workspace',
    ],
    ['hidden_dir: ../../../root', 'hidden_dir', 'leads out of the suite'],
    ['setup_script: ../../../../etc/profile', 'setup_script', 'leads out of the suite'],
    ['custom_check: ../../../x.py', 'custom_check', 'leads out of the suite'],
    ['custom_check: ../scenarios/a.py', 'custom_check', 'lies outside of custom_checks/'],
    ['custom_check: missing.py', 'custom_check', 'does not exist'],
    ['custom_check: check.rb', 'custom_check', 'neither a .py nor a .ts'],
  ])('is refused by freeze and by lint: %s', async (line, field, message) => {
    const root = await folderWith({
      'scenarios/a.yaml': scenario('a', line),
      'scenarios/a.py': '',
      'custom_checks/ok.py': '',
    });
    await symlink('/etc', join(root, 'linked'));
    await mkdir(join(root, 'holds-link'));
    await symlink('/etc/passwd', join(root, 'holds-link/passwd'));
    const target = join(await folderWith(), 'suite');
    const problems = await problemsOf(() => freeze(root, target));
    expect(problems).toMatchObject([{ file: 'scenarios/a.yaml', line: 6, field }]);
    expect(problems[0]?.message).toContain(message);
    await expect(lstat(target)).rejects.toThrow();
    const found = await lintSuite(await loadSuite(root));
    expect(found.filter(({ rule }) => rule === 'unresolved')).toMatchObject([
      { severity: 'error', field, line: 6 },
    ]);
  });

  it('is refused for special files and links in its checkers; a hard link is a file', async () => {
    const root = await folderWith(FULL);
    await promisify(execFile)('mkfifo', [join(root, 'scenarios/p/a/seed/pipe')]);
    await symlink('/', join(root, 'datasets/root'));
    await link(join(root, 'datasets/d.csv'), join(root, 'datasets/e.csv'));
    const problems = await problemsOf(async () => freeze(root, join(await folderWith(), 'suite')));
    expect(problems.map(({ message, file }) => `${file}: ${message}`)).toEqual([
      'scenarios/p/a.yaml: scenarios/p/a/seed/pipe is neither a file nor a folder',
      'datasets/root: is a link',
    ]);
  });

  it('is refused for wrong scripts, with their own file and line', async () => {
    const root = await folderWith({
      'scenarios/a.yaml': scenario('a', CHECKS, 'scripted_dir: a/s'),
      'scenarios/a/s/solve.yaml': '- message: ok\n- wriet: {path: x, content: y}\n',
      'scenarios/a/s/slove.yaml': '- message: ok\n',
    });
    const problems = await problemsOf(async () => freeze(root, join(await folderWith(), 'suite')));
    expect(problems.map(({ file, line, field, remedy }) => [file, line, field, remedy])).toEqual([
      ['scenarios/a.yaml', 7, 'scripted_dir', 'Did you mean "solve"?'],
      ['scenarios/a/s/solve.yaml', 2, '[1].wriet', 'Did you mean "write"?'],
    ]);
  });
});
