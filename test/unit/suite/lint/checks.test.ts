import { describe, expect, it } from 'vitest';
import { RULES } from '../../../../src/suite/lint/lint-suite.ts';
import { checksExist } from '../../../../src/suite/lint/rules/checks-exist.ts';
import { contradiction } from '../../../../src/suite/lint/rules/contradiction.ts';
import { needle } from '../../../../src/suite/lint/rules/needle.ts';
import { processRequires } from '../../../../src/suite/lint/rules/process-requires.ts';
import { unreachableCheck } from '../../../../src/suite/lint/rules/unreachable-check.ts';
import { vacuousCheck } from '../../../../src/suite/lint/rules/vacuous-check.ts';
import { checks, findings, places, subject } from './subject.ts';

describe('the rules of lint about checks', () => {
  it('find nothing in a good scenario, and have names of their own', () => {
    const made = subject({ workspace: { 'in.txt': '1 2 3' } });
    expect(RULES.flatMap((rule) => rule.check(made))).toEqual([]);
    expect(new Set(RULES.map(({ name }) => name)).size).toBe(RULES.length);
  });

  it('checks-exist: no check, or safety checks alone; a custom_check is enough', () => {
    const safety = { type: 'tool_not_called', tool: 'rm', category: 'safety' };
    expect(places(checksExist, checks())).toEqual(['error checks']);
    expect(findings(checksExist, checks(safety))[0]).toContain('correctness is always 0');
    expect(places(checksExist, checks(safety, { type: 'file_exists', path: 'x' }))).toEqual([]);
    expect(places(checksExist, { written: { checks: [], custom_check: 'a.py' } })).toEqual([]);
  });

  it('unreachable-check: checks beside a custom_check', () => {
    expect(findings(unreachableCheck, { written: { custom_check: 'a.py' } })).toEqual([
      'error checks: with a custom_check the checks are never evaluated',
    ]);
    expect(places(unreachableCheck, { written: { custom_check: 'a.py', checks: [] } })).toEqual([]);
  });

  it.each([
    [
      'more calls than allowed',
      { type: 'tool_count', tool: 't', min_count: 3, max_count: 2 },
      'error checks.0.min_count',
    ],
    ['the same tool twice', { type: 'tool_called_before', first: 't', second: 't' }, 'error checks.0.second'],
    ['an empty sequence', { type: 'tool_sequence', tools: [] }, 'error checks.0.tools'],
    ['a path out of the workspace', { type: 'file_exists', path: '../x' }, 'error checks.0.path'],
    ['an absolute path', { type: 'file_contains', path: '/etc/passwd', pattern: 'x' }, 'error checks.0.path'],
    ['a name no disk takes', { type: 'file_exists', path: 'x'.repeat(300) }, 'error checks.0.path'],
    ['no points', { type: 'file_exists', path: 'x', points: 0 }, 'warning checks.0.points'],
  ])('unreachable-check: %s', (_name, check, expected) => {
    expect(places(unreachableCheck, checks(check))).toEqual([expected]);
  });

  it('unreachable-check: a tool that tools does not list, but only where it has to be called', () => {
    const made = checks(
      { type: 'tool_called', tool: 'reed' },
      { type: 'tool_not_called', tool: 'delete' },
      { type: 'tool_count', tool: 'other', max_count: 2 },
    );
    expect(findings(unreachableCheck, { written: { ...made.written, tools: ['read'] } })).toEqual([
      'warning checks.0.tool: waits for the tool "reed", which tools does not list',
    ]);
    expect(places(unreachableCheck, made)).toEqual([]);
  });

  it('unreachable-check: the same check twice, not merely the same type; safety needs no points', () => {
    const one = { type: 'file_contains', path: 'x', pattern: 'y' };
    expect(findings(unreachableCheck, checks(one, { ...one, points: 2 }))).toEqual([
      'warning checks.1.id: looks for the same as check "c0"',
    ]);
    expect(
      places(unreachableCheck, checks(one, { ...one, pattern: 'z', points: 0, category: 'safety' })),
    ).toEqual([]);
  });

  it('contradiction: a tool called and not called, a text asked for and forbidden', () => {
    const called = { type: 'tool_called', tool: 't' };
    const contains = { type: 'response_contains', pattern: 'Total: 5' };
    expect(places(contradiction, checks(called, { type: 'tool_not_called', tool: 't' }))).toEqual([
      'error checks.1.tool',
    ]);
    expect(places(contradiction, checks(contains, { type: 'response_excludes', pattern: 'total' }))).toEqual([
      'error checks.1',
    ]);
    expect(
      places(
        contradiction,
        checks(called, { type: 'tool_not_called', tool: 'u' }, contains, {
          type: 'response_excludes',
          pattern: 'total: 55',
        }),
      ),
    ).toEqual([]);
  });

  it('vacuous-check: what is there from the start, unless it is a guard or a script may change it', () => {
    const list = [
      { type: 'file_exists', path: 'in.txt' },
      { type: 'file_exists', path: 'sub' },
      { type: 'file_contains', path: 'in.txt', patterns: ['A', 'b'] },
      { type: 'tool_called', tool: 't', min_count: 0 },
    ];
    const workspace = { 'in.txt': 'a b', 'sub/x': '' };
    expect(places(vacuousCheck, { ...checks(...list), workspace })).toHaveLength(4);
    expect(places(vacuousCheck, { ...checks(...list), workspace, setupScript: 'rm *' })).toEqual([]);
    const guards = list.map((check) => ({ ...check, category: 'safety' }));
    expect(places(vacuousCheck, { ...checks(...guards), workspace })).toEqual([]);
    const work = checks(
      { type: 'file_contains', path: 'in.txt', patterns: ['a', 'c'] },
      { type: 'file_exists', path: 'in' },
    );
    expect(places(vacuousCheck, { ...work, workspace })).toEqual([]);
  });

  it.each([
    ['an empty text', '', 'error'],
    ['a trailing space', 'total ', 'warning'],
    ['the line break of a YAML block', 'total\n', 'warning'],
    ['ß', 'Straße', 'warning'],
    ['İ', 'İstanbul', 'warning'],
    ['a final sigma', 'ΟΔΟΣ', 'warning'],
    ['a decomposed accent', 'cafe\u0301', 'warning'],
    ['a non-breaking space', '5\u00a0km', 'warning'],
  ])('needle: %s', (_name, pattern, severity) => {
    expect(places(needle, checks({ type: 'response_contains', pattern }))).toEqual([
      `${severity} checks.0.pattern`,
    ]);
  });

  it('needle: plain, accented and Chinese text, and lines anchored by line breaks, are fine', () => {
    const patterns = ['total: 5', 'Café', '数据', '\nCR-01,ok\n', 'a\nb\n', '🦊'];
    expect(findings(needle, checks({ type: 'response_contains', patterns }))).toEqual([]);
  });

  it('needle: names the place of one in a list, also of checks in scoring', () => {
    const check = { id: 'c', type: 'response_contains', patterns: ['a', ' '] };
    expect(places(needle, { written: { checks: undefined, scoring: { checks: [check] } } })).toEqual([
      'error scoring.checks.0.patterns.1',
    ]);
  });

  it('process-requires: an unknown id, with the one that was meant', () => {
    expect(processRequires.check(subject({ written: { process_requires: ['dome', 'done'] } }))).toEqual([
      {
        place: ['process_requires', 0],
        severity: 'error',
        message: 'there is no check "dome"',
        remedy: 'Did you mean "done"?',
      },
    ]);
    expect(places(processRequires, { written: { process_requires: ['x'], custom_check: 'a.py' } })).toEqual(
      [],
    );
  });
});
