import { error, warning, type Rule, type RuleFinding } from '../finding.ts';
import { checkPlace, needlesOf, writtenCheck } from '../places.ts';

/**
 * Needles that do not find what they seem to. Matching lowers both sides and looks for a substring; letters whose
 * upper and lower case do not lead back to each other (ß, İ, a final sigma) then miss their other form.
 */
export const needle: Rule = {
  name: 'needle',
  check: ({ scenario, written }) =>
    scenario.checks.flatMap((check, index) =>
      needlesOf(check, writtenCheck(written, index)).flatMap(({ place, needle: text }) =>
        problemsOfNeedle(text, [...checkPlace(written, index), ...place]),
      ),
    ),
};

function problemsOfNeedle(text: string, place: readonly (string | number)[]): RuleFinding[] {
  if (text.trim() === '') {
    return [error(place, 'is empty: every text contains it', 'Write what to look for.')];
  }
  const findings: RuleFinding[] = [];
  // Several lines, or a line break in front, are meant: "at the beginning of a line" is written this way.
  const oneLine = !text.slice(0, -1).includes('\n');
  if (/^[ \t]|[ \t]$/.test(text) || (text.endsWith('\n') && oneLine)) {
    findings.push(
      warning(
        place,
        `${JSON.stringify(text)} begins or ends with white space, which has to be found too`,
        'Remove it; in YAML a text after "|" ends with a line break, after "|-" it does not.',
      ),
    );
  }
  const letter = Array.from(text).find(losesItsCase);
  if (letter !== undefined) {
    findings.push(
      warning(
        place,
        `"${letter}" in "${text}" changes when its case does, so the other spelling is not found`,
        'Leave the letter out, or look for both spellings with two checks.',
      ),
    );
  }
  if (text !== text.normalize('NFC')) {
    findings.push(
      warning(
        place,
        `"${text}" writes an accent as a character of its own`,
        'Write the composed letter (NFC).',
      ),
    );
  }
  if (/[\u00a0\u200b-\u200f\u2060\ufeff]/.test(text)) {
    findings.push(
      warning(place, `"${text}" holds an invisible or non-breaking character`, 'Write plain spaces.'),
    );
  }
  return findings;
}

function losesItsCase(letter: string): boolean {
  const lower = letter.toLowerCase();
  const roundTrip = letter.toUpperCase().toLowerCase();
  // Sigma is one letter in upper case and two in lower case, chosen by its place in the word.
  return lower.length !== letter.length || roundTrip !== lower || 'Σσς'.includes(letter);
}
