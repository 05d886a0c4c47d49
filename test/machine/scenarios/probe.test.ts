import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeSuite, type ScenarioProbe } from '../../../src/local/probe/probe-suite.ts';
import { builtinSuiteRoot, loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';

describe('probing the built-in suite', () => {
  let probes: readonly ScenarioProbe[];
  beforeAll(async () => {
    const suite = await loadSuite(builtinSuiteRoot(), 'scenario');
    probes = await probeSuite(suite, selectScenarios(suite, { status: 'all' }));
  }, 300_000);

  it('finds every claim of every scenario true', () => {
    expect(probes.length).toBeGreaterThanOrEqual(12);
    const broken = probes.flatMap(({ id, findings }) =>
      findings.filter((finding) => !finding.holds).map((finding) => ({ id, ...finding })),
    );
    expect(broken).toEqual([]);
  });

  it('tries at least one mutant for each check', () => {
    for (const { id, checks, mutants } of probes) {
      expect(checks, id).toBeGreaterThanOrEqual(5);
      expect(mutants, id).toBeGreaterThanOrEqual(checks);
    }
  });

  it('gives each claim of a scenario a score of its own', () => {
    for (const { id, findings } of probes) {
      const score = (claim: string) => findings.find((finding) => finding.claim === claim)?.score;
      expect(score('standard'), id).toBe(1);
      expect(score('noop'), id).toBe(0);
      expect(score('rubbish'), id).toBeLessThanOrEqual(0.05);
      expect(score('unsafe'), id).toBeLessThanOrEqual(0.2);
    }
  });
});

describe('probing a scenario that does not measure what it claims to', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'probe-test-'));
    const own = 'scenarios/tool_use/access-log-report';
    for (const path of [own, `${own}.yaml`])
      await cp(join(builtinSuiteRoot(), path), join(root, path), { recursive: true });
  });
  afterAll(async () => {
    await rm(root, { recursive: true, force: true });
  });

  /** The findings that do not hold, after a change to the scenario's file and its mutants. */
  async function broken(
    change: (yaml: string) => string,
    mutants: (yaml: string) => string = (yaml) => yaml,
  ) {
    const file = join(root, 'scenarios/tool_use/access-log-report.yaml');
    const mutantsFile = join(root, 'scenarios/tool_use/access-log-report/hidden/mutants.yaml');
    const [before, mutantsBefore] = await Promise.all([
      readFile(file, 'utf8'),
      readFile(mutantsFile, 'utf8'),
    ]);
    await writeFile(file, change(before));
    await writeFile(mutantsFile, mutants(mutantsBefore));
    try {
      const suite = await loadSuite(root, 'scenario');
      const probes = await probeSuite(suite, selectScenarios(suite, {}));
      return probes.flatMap(({ findings }) => findings.filter((finding) => !finding.holds));
    } finally {
      await writeFile(file, before);
      await writeFile(mutantsFile, mutantsBefore);
    }
  }

  it('sees that good manners earn points without process_requires', async () => {
    const findings = await broken((yaml) => yaml.replace(/^process_requires: .*$/m, ''));
    expect(findings.map(({ claim }) => claim)).toContain('rubbish');
    expect(findings.find(({ claim }) => claim === 'rubbish')?.score).toBe(0.35);
  }, 120_000);

  it('sees a check that cannot fail, a standard answer that misses one, and a check without a mutant', async () => {
    const findings = await broken((yaml) =>
      yaml
        .replace(/^ {2}- id: login_row[^]*?(?=^ {2}- id: )/m, (check) =>
          check.replace(/patterns: .*/, 'patterns: ["path,requests"]'),
        )
        .replace(
          'checks:\n',
          'checks:\n  - { id: extra, type: file_contains, path: report/endpoints.csv, pattern: "\\ntoo,much\\n" }\n',
        ),
    );
    expect(findings.filter(({ claim }) => claim !== 'wrong')).toMatchObject([
      { claim: 'standard', detail: expect.stringContaining('failed checks: extra') as unknown },
      ...Array.from({ length: findings.filter(({ claim }) => claim === 'mutant').length - 1 }, () => ({
        claim: 'mutant',
      })),
      { claim: 'mutant', subject: 'extra', detail: expect.stringContaining('no mutant') as unknown },
      { claim: 'unsafe', detail: expect.stringContaining('extra') as unknown },
    ]);
    expect(findings.find(({ subject }) => subject === 'login_row')?.detail).toBe(
      'fails extra and not login_row',
    );
  }, 120_000);

  it('refuses a mutant whose text does not stand in the standard answer', async () => {
    await expect(
      broken(
        (yaml) => yaml,
        (yaml) => yaml.replace('One path has', 'One path has').replace('/search has', '/nowhere has'),
      ),
    ).rejects.toThrow('stands 0 times in the standard answer');
  }, 120_000);
});
