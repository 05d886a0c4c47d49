/** Where in its input something is wrong. Every part is optional because not every input is a file. */
export interface InputLocation {
  /** Path as the user gave it, or relative to the suite's root. */
  readonly file?: string;
  /** 1-based line in `file`. */
  readonly line?: number;
  /** Dotted path of the field, e.g. `spec.timeouts.turn` or `checks[2].type`. */
  readonly field?: string;
}

/** One thing that is wrong with an input, and what to do about it. */
export interface InputProblem extends InputLocation {
  readonly message: string;
  /** What to change, as an imperative sentence. */
  readonly remedy?: string;
}

/**
 * The user's input cannot be used. Carries every problem found, not only the first, so that one look is
 * enough to mend a file. Command line programs end with exit code 2 on it and print no stack trace.
 */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  readonly problems: readonly InputProblem[];

  constructor(problems: readonly [InputProblem, ...InputProblem[]] | InputProblem) {
    const all = isProblem(problems) ? [problems] : [...problems];
    super(all.map(formatProblem).join('\n'));
    this.problems = all;
  }
}

/** A step of an attempt or a run failed through no fault of the input or the agent. */
export class InfrastructureError extends Error {
  override readonly name = 'InfrastructureError';
  /** CamelCase word for tables and conditions, e.g. `DiskFull`. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** `file:line: field: message. Remedy.` with the parts that are known. */
export function formatProblem(problem: InputProblem): string {
  const { file, line, field, message, remedy } = problem;
  const place = file === undefined ? undefined : line === undefined ? file : `${file}:${line}`;
  const sentence = remedy === undefined ? message : `${message.replace(/\.$/, '')}. ${remedy}`;
  return [place, field, sentence].filter((part) => part !== undefined).join(': ');
}

/** The message of anything that was thrown; a non-error is shown as it prints. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a Node.js system error (`ENOENT`, ...), or undefined. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Whether a write failed because the disk, or a quota on it, is full. */
export function isDiskFull(thrown: unknown): boolean {
  const code = errnoOf(thrown);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function isProblem(value: readonly InputProblem[] | InputProblem): value is InputProblem {
  return !Array.isArray(value);
}
