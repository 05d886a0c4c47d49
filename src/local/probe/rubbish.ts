import type { ScriptStep } from '../../api/scenario.ts';

/** What a careless agent writes: not empty, no format, no number. */
export const RUBBISH = 'Work in progress, to be filled in later.\n';

/**
 * The standard answer's tool calls in their order, with rubbish in place of everything that they write: each
 * written content, each edit's new text, each message. A shell command is replaced by one that does nothing;
 * the last one writes the rubbish into `shellOutputs`, so that what the real commands made is there, too.
 *
 * @param shellOutputs workspace files that the standard answer makes or changes, relative
 */
export function rubbishAnswer(
  steps: readonly ScriptStep[],
  shellOutputs: readonly string[],
): readonly ScriptStep[] {
  const lastShell = steps.findLastIndex((step) => 'shell' in step);
  return steps.map((step, index): ScriptStep => {
    if ('write' in step) return { write: { path: step.write.path, content: RUBBISH } };
    if ('edit' in step) return { edit: { ...step.edit, new: RUBBISH } };
    if ('message' in step) return { message: RUBBISH.trim() };
    if ('shell' in step) return { shell: index === lastShell ? writesRubbish(shellOutputs) : ':' };
    return step;
  });
}

function writesRubbish(paths: readonly string[]): string {
  return [
    ':',
    ...paths.flatMap((path) => [makesFolderOf(path), `printf %s ${quoted(RUBBISH)} >${quoted(path)}`]),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function makesFolderOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end === -1 ? '' : `mkdir -p -- ${quoted(path.slice(0, end))}`;
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
