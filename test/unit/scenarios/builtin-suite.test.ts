import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIMENSIONS } from '../../../src/api/vocabulary.ts';
import { lintSuite } from '../../../src/suite/lint/lint-suite.ts';
import { builtinSuiteRoot, loadSuite } from '../../../src/suite/load.ts';

const suite = await loadSuite(builtinSuiteRoot(), 'scenario');
const scenarios = suite.format === 'scenario' ? suite.scenarios.map(({ scenario }) => scenario) : [];

describe('the built-in suite', () => {
  it('has at least two scenarios in each dimension', () => {
    for (const dimension of DIMENSIONS) {
      const count = scenarios.filter((s) => s.dimension === dimension).length;
      expect(count, dimension).toBeGreaterThanOrEqual(2);
    }
  });

  it('mixes easy, medium, hard and expert, with at least four hard ones', () => {
    const count = (difficulty: string) => scenarios.filter((s) => s.difficulty === difficulty).length;
    expect(count('hard')).toBeGreaterThanOrEqual(4);
    for (const difficulty of ['easy', 'medium', 'expert']) expect(count(difficulty)).toBeGreaterThan(0);
  });

  it('shows both ways of checking, and needs no Python for either', () => {
    const checkers = scenarios.flatMap(({ custom_check }) => custom_check ?? []);
    expect(checkers.length).toBeGreaterThanOrEqual(5);
    expect(scenarios.length - checkers.length).toBeGreaterThanOrEqual(5);
    expect(checkers.filter((checker) => !checker.endsWith('.ts'))).toEqual([]);
  });

  it.each(scenarios.map(({ id }) => id))('needs no network, clock or surface for %s', (id) => {
    const scenario = scenarios.find((each) => each.id === id);
    expect(scenario?.openclaw_surfaces).toEqual([]);
    expect(scenario?.signal_source).toBe('workspace_live');
    expect(scenario?.process_requires.length).toBeGreaterThan(0);
  });

  it('has at least five checks, mutants and all three scripts for every scenario', () => {
    for (const { file, scenario } of suite.format === 'scenario' ? suite.scenarios : []) {
      const folder = join(suite.root, file.replace(/\.yaml$/, ''));
      const present = ['scripted/solve', 'scripted/wrong', 'scripted/unsafe', 'hidden/mutants'].filter(
        (name) => existsSync(join(folder, `${name}.yaml`)),
      );
      expect(present, scenario.id).toHaveLength(4);
      if (scenario.custom_check === null)
        expect(scenario.checks.length, scenario.id).toBeGreaterThanOrEqual(5);
    }
  });

  it('is clean for lint, warnings included', async () => {
    expect(await lintSuite(suite)).toEqual([]);
  });
});
