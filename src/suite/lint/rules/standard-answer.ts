import type { ScriptStep } from '../../../api/scenario.ts';
import { workspacePath } from '../../boundary.ts';
import { error, warning, type Rule, type RuleFinding } from '../finding.ts';
import type { LintSubject, ScriptFile } from '../subject.ts';

/** Scripts of the scripted runtime that are missing, or that cannot be executed as they stand. */
export const standardAnswer: Rule = {
  name: 'standard-answer',
  check: (subject) => {
    const { scenario, scripts, suiteHasScripts } = subject;
    const findings: RuleFinding[] = [];
    if (scenario.scripted_dir === null) {
      if (suiteHasScripts) {
        findings.push(
          warning(
            ['scripted_dir'],
            'other scenarios of the suite have scripts, this one has none',
            'Add scripted_dir with solve.yaml.',
          ),
        );
      }
      return findings;
    }
    if (!scripts.some(({ behaviour }) => behaviour === 'solve')) {
      findings.push(error(['scripted_dir'], 'has no solve.yaml, the standard answer', 'Add it.'));
    }
    return [...findings, ...scripts.flatMap((script) => problemsOfScript(script, subject))];
  },
};

/** Plays the steps on the names and texts of the workspace, up to the first command, which may change anything. */
function problemsOfScript({ behaviour, steps }: ScriptFile, subject: LintSubject): RuleFinding[] {
  const findings: RuleFinding[] = [];
  const say = (index: number, message: string, remedy: string) =>
    findings.push(error(['scripted_dir'], `${behaviour}.yaml, step ${index + 1}: ${message}`, remedy));
  const texts = new Map(subject.publicTexts.map(({ path, text }) => [path, text]));
  const names = new Set(subject.workspace.map(({ path }) => path));
  let known = subject.setupScript === null;
  for (const [index, step] of steps.entries()) {
    const written = pathOf(step);
    const path = written === undefined ? undefined : workspacePath(written);
    if (written !== undefined && path === undefined) {
      say(index, `"${written}" leads out of the workspace`, 'Write a path inside the workspace.');
    } else if ('shell' in step) {
      known = false;
    } else if ('write' in step && path !== undefined) {
      texts.set(path, step.write.content);
      names.add(path);
    } else if (known && path !== undefined && !names.has(path)) {
      say(index, `"${path}" does not exist at this point`, 'Correct the path, or write the file before.');
    } else if (known && 'edit' in step && path !== undefined) {
      const text = texts.get(path);
      if (text?.includes(step.edit.old) === false) {
        say(index, `"${path}" does not hold the text that is to be replaced`, 'Correct old.');
      } else if (text !== undefined) {
        texts.set(
          path,
          text.replace(step.edit.old, () => step.edit.new),
        );
      }
    }
    if ('fail' in step && index < steps.length - 1) {
      say(
        index + 1,
        'is never reached: the step before ends the agent',
        'Remove it or move fail to the end.',
      );
    }
  }
  if (behaviour === 'solve' && !steps.some((step) => 'message' in step)) {
    findings.push(
      warning(
        ['scripted_dir'],
        'solve.yaml never answers, and a turn without an answer is not complete',
        'End it with a message.',
      ),
    );
  }
  return findings;
}

function pathOf(step: ScriptStep): string | undefined {
  if ('write' in step) return step.write.path;
  if ('read' in step) return step.read.path;
  if ('edit' in step) return step.edit.path;
  return undefined;
}
