/**
 * Sentences by which an executor says that it has finished, for runtimes without stop reasons: "I have finished
 * the request" and compatible variants. The whole sentence must say it: a marker inside another sentence ("once
 * I have finished the request", "not done yet") is none.
 */

const WORK = '(?:request|task|work|assignment|job|question|instructions?|steps|items|todos)s?';
/** The work as a whole: the request; all of your tasks; everything. */
const WHOLE = `(?:(?:all(?: of)? |both |every )?(?:(?:the|your|this|my|these|those|every) )?(?:[\\w'-]+ ){0,2}${WORK}|everything)`;
/** What may follow an object without making it another one: "the task, ..." but not "the task list". */
const END =
  '(?=$|[,;:(]| -| (?:and|as|in|on|at|by|for|with|that|which|you|to|per|successfully|completely|fully|exactly|but|except|however)\\b)';
const OBJECT = `(?:${WHOLE}|it all|this|it|all)${END}`;
const DONE = '(?:finished|completed|done|fulfilled|accomplished|concluded)';
const ADVERB = '(?:now |successfully |fully |already |also |both |just )*';

const MARKERS = [
  // I have finished the request; I've now successfully completed all your tasks; I finished the work
  new RegExp(`^(?:i|we)(?:'ve| have)? ?${ADVERB}${DONE}(?: with)? ${OBJECT}(?<rest>.*)$`),
  // I am done; we're finished with the task; I have finished
  new RegExp(
    `^(?:i|we)(?:'m|'re| am| are|'ve| have) ${ADVERB}(?:done|finished)(?: with ${OBJECT})?(?<rest>(?:[,;:]| and | -).*)?$`,
  ),
  // The request is finished; all tasks have been completed; everything is done; the task was completed
  new RegExp(
    `^${WHOLE} (?:is|are|was|were|has been|have been|has|have) ${ADVERB}(?:${DONE}|complete)(?<rest>.*)$`,
  ),
  // Task complete; request completed successfully
  new RegExp(`^(?:the )?${WHOLE} (?:${DONE}|complete)(?: successfully)?$`),
  // Done. Finished. All done. Completed successfully.
  new RegExp(`^(?:all |now )?(?:${DONE}|complete)(?: successfully)?$`),
];

/** A part of the work is not the work. */
const PART = /\b(?:part|parts|half|first|second|third|some|most|portion|one|next|previous|few|sub)\b/;
/** Words that take back what the sentence says. */
const TAKEN_BACK =
  /\b(?:not|n't|but|except|however|although|though|yet|unless|until|if|almost|nearly|partially|partly|still|remaining|remains?)\b|n't\b/;
/** Sentences that say that work is left, anywhere in the message. */
const UNFINISHED = [
  /\bnot (?:yet )?(?:been )?(?:done|finished|completed?)\b/,
  /\b(?:haven't|hasn't|isn't|aren't|wasn't) (?:yet )?(?:been )?(?:done|finished|completed?)\b/,
  /\bstill (?:need|needs|have|has|working|remains?|to do|missing|left)\b/,
  /\b(?:i|we)(?:'ll| will) (?:now |next |then )?(?:continue|proceed|go on|carry on)\b/,
  /\bto be continued\b/,
];

/** Whether the message says in a sentence of its own, and takes nothing of it back, that the work is finished. */
export function hasCompletionMarker(text: string): boolean {
  const sentences = sentencesOf(text);
  if (sentences.some((sentence) => UNFINISHED.some((pattern) => pattern.test(sentence)))) return false;
  return sentences.some(isMarker);
}

function isMarker(sentence: string): boolean {
  if (sentence.endsWith('?')) return false;
  const plain = sentence.replace(/[.!:;,]+$/, '');
  return MARKERS.some((marker) => {
    const match = marker.exec(plain);
    if (match === null) return false;
    const rest = match.groups?.['rest'] ?? '';
    return !PART.test(plain.slice(0, plain.length - rest.length)) && !TAKEN_BACK.test(rest);
  });
}

/** Plain lower-case sentences without code, quotations and marks of Markdown. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/^\s*>.*$/gm, '\n')
    .replace(/[\u2018\u2019]/g, "'")
    .toLowerCase()
    .split(/\n+|(?<=[.!?])\s+/)
    .map((sentence) =>
      sentence
        .replace(/[*_#`~\u2713\u2714\u2705]/g, '')
        .replace(/^[\s\-+\u2022]+/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}
