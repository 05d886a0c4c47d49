import type { InputProblem } from '../../api/errors.ts';
import { fieldName } from '../../files/problems.ts';
import { readCheckerBundle, type ResolvedChecker } from '../checker.ts';
import type { LoadedScenario, LoadedSuite } from '../loaded-suite.ts';
import { resolveScenario } from '../resolve.ts';
import type { Finding, Rule } from './finding.ts';
import { checksExist } from './rules/checks-exist.ts';
import { contradiction } from './rules/contradiction.ts';
import { derivedFields } from './rules/derived-fields.ts';
import { hiddenExposed } from './rules/hidden-exposed.ts';
import { needle } from './rules/needle.ts';
import { numbers } from './rules/numbers.ts';
import { processRequires } from './rules/process-requires.ts';
import { prompt } from './rules/prompt.ts';
import { standardAnswer } from './rules/standard-answer.ts';
import { toolLists } from './rules/tool-lists.ts';
import { unmentionedAnswer } from './rules/unmentioned-answer.ts';
import { unreachableCheck } from './rules/unreachable-check.ts';
import { unreadField } from './rules/unread-field.ts';
import { vacuousCheck } from './rules/vacuous-check.ts';
import { workspaceScript } from './rules/workspace-script.ts';
import { subjectOf } from './subject.ts';

/** Every rule but `unresolved`, which is what resolving itself finds. docs/reference/lint.md describes them. */
export const RULES: readonly Rule[] = [
  prompt,
  checksExist,
  unreadField,
  unreachableCheck,
  contradiction,
  vacuousCheck,
  needle,
  processRequires,
  numbers,
  toolLists,
  derivedFields,
  workspaceScript,
  hiddenExposed,
  unmentionedAnswer,
  standardAnswer,
];

/** The name under which everything is reported that a suite names and that is not there or cannot be used. */
export const UNRESOLVED = 'unresolved';

/**
 * Looks for what loading cannot see. Unlike listing it resolves and reads every file that the scenarios name.
 *
 * @param scenarios which ones; default all
 * @returns findings in the order of the scenarios, of one scenario by line
 */
export async function lintSuite(
  suite: LoadedSuite,
  scenarios: readonly LoadedScenario[] = suite.format === 'scenario' ? suite.scenarios : [],
): Promise<readonly Finding[]> {
  if (suite.format === 'task') return [];
  const suiteHasScripts = suite.scenarios.some(({ scenario }) => scenario.scripted_dir !== null);
  const findings: Finding[] = [];
  const languages = new Set<ResolvedChecker['language']>();
  for (const loaded of scenarios) {
    const { resolved, problems } = await resolveScenario(suite, loaded);
    if (resolved.checker !== null) languages.add(resolved.checker.language);
    const subject = await subjectOf(resolved, suiteHasScripts);
    const own = [
      ...problems.map((problem) => unresolved(problem, loaded)),
      ...RULES.flatMap((rule) =>
        rule.check(subject).map(({ place, severity, message, remedy }): Finding => ({
          scenarioId: loaded.id,
          file: loaded.file,
          line: loaded.lineOf(place),
          field: place.length === 0 ? null : fieldName(place),
          rule: rule.name,
          severity,
          message,
          remedy,
        })),
      ),
    ];
    findings.push(...own.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)));
  }
  for (const language of languages) {
    const { problems } = await readCheckerBundle(suite.root, language);
    for (const { path, message, remedy } of problems) {
      findings.push({
        scenarioId: null,
        file: path,
        line: null,
        field: null,
        rule: UNRESOLVED,
        severity: 'error',
        message,
        remedy,
      });
    }
  }
  return findings;
}

function unresolved(problem: InputProblem, loaded: LoadedScenario): Finding {
  return {
    scenarioId: loaded.id,
    file: problem.file ?? loaded.file,
    line: problem.line ?? null,
    field: problem.field ?? null,
    rule: UNRESOLVED,
    severity: 'error',
    message: problem.message,
    remedy: problem.remedy ?? 'Correct it.',
  };
}
