import type { Scenario, ScriptStep } from '../../../../src/api/scenario.ts';
import type { Rule } from '../../../../src/suite/lint/finding.ts';
import type { LintSubject } from '../../../../src/suite/lint/subject.ts';
import { scenarioFileSchema } from '../../../../src/suite/scenario-file.ts';
import { writtenFile } from '../../../../src/suite/tree.ts';

/** A scenario as its file would say it, good unless a test makes it bad. */
const GOOD = {
  id: 'a',
  dimension: 'planning',
  benchmark_group: 'intelligence',
  execution_mode: 'live',
  prompt: 'Write out.txt with the total of in.txt.',
  checks: [{ id: 'done', type: 'file_contains', path: 'out.txt', pattern: 'total' }],
};

type Texts = Readonly<Record<string, string>>;

export interface Made {
  readonly written?: Readonly<Record<string, unknown>>;
  readonly workspace?: Texts;
  readonly hidden?: Texts;
  readonly scripts?: Readonly<Record<string, readonly ScriptStep[]>>;
  readonly paths?: Texts;
  readonly checker?: string;
  readonly setupScript?: string;
  readonly suiteHasScripts?: boolean;
}

export function subject(made: Made = {}): LintSubject {
  const written = { ...GOOD, ...made.written };
  const scenario: Scenario = scenarioFileSchema.parse(written);
  const files = (texts: Texts = {}) => Object.entries(texts).map(([path, text]) => writtenFile(path, text));
  const texts = (from: Texts = {}) => Object.entries(from).map(([path, text]) => ({ path, text }));
  return {
    scenario,
    written,
    file: 'scenarios/planning/a.yaml',
    paths: new Map(Object.entries(made.paths ?? {})),
    checker: made.checker ?? null,
    workspace: files(made.workspace),
    publicTexts: texts(made.workspace),
    hidden: files(made.hidden),
    hiddenTexts: texts(made.hidden),
    setupScript: made.setupScript ?? null,
    teardownScript: null,
    scripts: Object.entries(made.scripts ?? {}).map(([behaviour, steps]) => ({ behaviour, steps })),
    suiteHasScripts: made.suiteHasScripts ?? false,
  };
}

/** `severity field: message` of what a rule finds. */
export function findings(rule: Rule, made: Made = {}): string[] {
  return rule
    .check(subject(made))
    .map(({ severity, place, message }) => `${severity} ${place.join('.')}: ${message}`);
}

/** The same without the message. */
export function places(rule: Rule, made: Made = {}): string[] {
  return rule.check(subject(made)).map(({ severity, place }) => `${severity} ${place.join('.')}`);
}

/** A scenario with these checks; ids are c0, c1, ... */
export function checks(...list: Record<string, unknown>[]): {
  written: { checks: Record<string, unknown>[] };
} {
  return { written: { checks: list.map((check, index) => ({ id: `c${index}`, ...check })) } };
}
