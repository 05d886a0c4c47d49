import { workspacePath } from '../../boundary.ts';
import { warning, type Rule, type RuleFinding } from '../finding.ts';
import { checkPlace } from '../places.ts';
import { publicWords, type LintSubject, type TextFile } from '../subject.ts';

/** A word with this shape is one of a fixed choice, not prose, a number or a computed value. */
const ENUM_LIKE = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*$/;
const LONGEST_ENUM = 40;
const SHOWN = 8;

/** A name the agent has to hit and cannot know: the check then measures guessing. */
export const unmentionedAnswer: Rule = {
  name: 'unmentioned-answer',
  check: (subject) => {
    const words = publicWords(subject);
    return [...unmentionedPaths(subject, words), ...unmentionedKeys(subject, words)];
  },
};

function unmentionedPaths({ scenario, written }: LintSubject, words: string): RuleFinding[] {
  if (scenario.custom_check !== null) return [];
  return scenario.checks.flatMap((check, index) => {
    if (check.type !== 'file_exists' && check.type !== 'file_contains') return [];
    const path = workspacePath(check.path);
    const name = path?.split('/').at(-1)?.toLowerCase();
    if (name === undefined || words.includes(name)) return [];
    return [
      warning(
        [...checkPlace(written, index), 'path'],
        `neither the prompt nor a file of the workspace mentions "${check.path}"`,
        'Name the file in the prompt.',
      ),
    ];
  });
}

function unmentionedKeys(subject: LintSubject, words: string): RuleFinding[] {
  const answer = standardAnswer(subject);
  const unknown = (word: string) =>
    !words.includes(word.toLowerCase()) && (answer === undefined || answer.includes(word.toLowerCase()));
  return subject.hiddenTexts.flatMap((file) => {
    const { keys, values } = answerWords(file);
    const missing = [
      ...[...keys].filter(unknown).map((key) => `key "${key}"`),
      ...[...values].filter(unknown).map((value) => `"${value}"`),
    ];
    if (missing.length === 0) return [];
    const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
    return [
      warning(
        ['hidden_dir'],
        `${file.path} expects what neither the prompt nor a file of the workspace mentions: ${missing.slice(0, SHOWN).join(', ')}${more}`,
        'Name the keys and the choices in the prompt, or leave them out of what is expected.',
      ),
    ];
  });
}

/**
 * What the standard answer writes and says, in lower case. Where it is known, a word of a hidden file that it
 * does without (the checker's own bookkeeping) need not be known to the agent either.
 */
function standardAnswer({ scripts }: LintSubject): string | undefined {
  const solve = scripts.find(({ behaviour }) => behaviour === 'solve');
  return solve === undefined ? undefined : JSON.stringify(solve.steps).toLowerCase();
}

function answerWords({ path, text }: TextFile): { keys: Set<string>; values: Set<string> } {
  const keys = new Set<string>();
  const values = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      if (value.length <= LONGEST_ENUM && ENUM_LIKE.test(value)) values.add(value);
    } else if (Array.isArray(value)) {
      value.forEach(walk);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        keys.add(key);
        walk(item);
      }
    }
  };
  if (path.endsWith('.json')) {
    try {
      walk(JSON.parse(text));
    } catch {
      // The checker will say so; this rule looks for words only.
    }
  }
  return { keys, values };
}
