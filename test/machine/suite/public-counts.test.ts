import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../../src/api/scenario.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import { CHECKOUT } from '../../support/cli.ts';

const SUITE = join(CHECKOUT, '..', 'shared', 'data', 'clawprobench-scenarios');

function count(scenarios: readonly Scenario[], words: (scenario: Scenario) => readonly string[]) {
  const counts: Record<string, number> = {};
  for (const word of scenarios.flatMap(words)) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

describe.skipIf(!existsSync(SUITE))(
  'the public suite selects to its inventory (needs the public files)',
  () => {
    const select = async (selector: Parameters<typeof selectScenarios>[1]) => {
      const { scenarios } = selectScenarios(await loadSuite(SUITE), selector);
      return scenarios.map(({ scenario }) => scenario);
    };

    it('full: by dimension, difficulty and signal source', async () => {
      const full = await select({ profile: 'full' });
      expect(full).toHaveLength(102);
      expect(count(full, ({ dimension }) => [dimension])).toEqual({
        constraints: 16,
        error_recovery: 21,
        planning: 19,
        safety: 12,
        synthesis: 19,
        tool_use: 15,
      });
      expect(count(full, ({ difficulty }) => [difficulty])).toEqual({
        easy: 3,
        medium: 8,
        hard: 39,
        expert: 52,
      });
      expect(count(full, ({ signal_source }) => [signal_source])).toEqual({
        workspace_live: 66,
        openclaw_native: 36,
      });
      const mass: Record<string, number> = {};
      const factors = { easy: 1, medium: 2, hard: 4, expert: 8 };
      for (const { difficulty, weight } of full) {
        mass[difficulty] = (mass[difficulty] ?? 0) + weight * factors[difficulty];
      }
      const rounded = Object.fromEntries(Object.entries(mass).map(([word, sum]) => [word, Math.round(sum)]));
      expect(rounded).toEqual({ easy: 3, medium: 16, hard: 240, expert: 664 });
    });

    it.each([
      ['core', { workspace_live: 16, openclaw_native: 10 }],
      ['intelligence', { workspace_live: 60, openclaw_native: 35 }],
      ['coverage', { workspace_live: 6, openclaw_native: 1 }],
      ['native', { openclaw_native: 36 }],
    ] as const)('%s: by signal source', async (profile, expected) => {
      expect(count(await select({ profile }), ({ signal_source }) => [signal_source])).toEqual(expected);
    });

    it('native: by surface', async () => {
      expect(
        count(await select({ profile: 'native' }), ({ openclaw_surfaces }) => openclaw_surfaces),
      ).toEqual({
        cron: 11,
        message: 17,
        skills: 12,
        memory: 11,
        browser: 12,
        sessions: 4,
        directory: 3,
        agents: 4,
      });
    });

    it('all statuses: 162, by status and group', async () => {
      const all = await select({ status: 'all' });
      expect(all).toHaveLength(162);
      expect(count(all, ({ benchmark_status }) => [benchmark_status])).toEqual({
        active: 102,
        incubating: 60,
      });
      expect(count(all, ({ benchmark_group }) => [benchmark_group])).toEqual({
        intelligence: 130,
        coverage: 32,
      });
      expect(count(all, ({ execution_mode }) => [execution_mode])).toEqual({ live: 162 });
    });
  },
);
