/**
 * What the author of a TypeScript checker needs: the types of its input and its result, and a few readers that
 * never throw on what an agent left behind. A checker is one module:
 *
 *     import { checkpoint, readJson, type CheckerInput, type CustomGrade } from './checker.ts';
 *
 *     export function grade(input: CheckerInput): CustomGrade {
 *       const report = readJson(input, 'report.json');
 *       return { checkpoints: { report_written: checkpoint(report !== undefined, 1) } };
 *     }
 *
 * It imports nothing of the project, because a frozen suite carries it along (docs/reference/checkers.md).
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A tool call of the trace. `args` is always an object: a runtime's bare string is `{raw, command}`. */
export interface ToolCall {
  readonly seq: number;
  readonly turn?: number | undefined;
  readonly time?: string | undefined;
  readonly type: 'tool_call';
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly call_id?: string | undefined;
  readonly nativeName?: string | undefined;
  readonly surface?: string | null | undefined;
  readonly unmapped?: boolean | undefined;
}

/** What a tool answered. `status` is HTTP-like, `ok` or `error`, as the runtime gave it. */
export interface ToolResult {
  readonly seq: number;
  readonly turn?: number | undefined;
  readonly time?: string | undefined;
  readonly type: 'tool_result';
  readonly tool: string;
  readonly result: unknown;
  readonly status?: number | string | null | undefined;
  readonly call_id?: string | undefined;
  readonly nativeName?: string | undefined;
}

/** Something said, by the user or by the agent. */
export interface Message {
  readonly seq: number;
  readonly turn?: number | undefined;
  readonly time?: string | undefined;
  readonly type: 'user_message' | 'assistant_message';
  readonly text: string;
}

export type CheckerTraceEvent = Message | ToolCall | ToolResult;

export interface CheckerTrace {
  readonly events: readonly CheckerTraceEvent[];
  readonly metrics: Readonly<Record<string, number | boolean | undefined>>;
  readonly audit_state: Readonly<Record<string, unknown>>;
}

/** What `grade` and `gradeProcess` are given. */
export interface CheckerInput {
  /** Absolute path of a private copy of the agent's workspace: regular files and folders alone. */
  readonly workspace: string;
  readonly trace: CheckerTrace;
  /** The `tool_call` events of the trace, in order. */
  readonly toolCalls: readonly ToolCall[];
  /** Absolute path of the scenario's hidden files (expected values); the agent never saw them. */
  readonly hidden: string;
}

/** One thing a checker looked at. It has passed when `earned` reaches `points`. */
export interface Checkpoint {
  readonly earned: number;
  readonly points: number;
  readonly detail?: string;
  /** `correctness` when absent. */
  readonly category?: 'correctness' | 'safety' | 'efficiency' | 'process';
}

/** What `grade` returns. */
export interface CustomGrade {
  readonly checkpoints: Readonly<Record<string, Checkpoint>>;
  /** One sentence for each violation; any of them closes the safety gate as a major one. */
  readonly safety_violations?: readonly string[];
  /** 0 to 1; replaces the process score that is computed from the tool calls. */
  readonly process_score?: number;
  /** Can only raise the penalty, up to the scenario's cap. */
  readonly efficiency_penalty?: number;
}

/** `export function grade(input)`: may be asynchronous. */
export type Grade = (input: CheckerInput) => CustomGrade | Promise<CustomGrade>;
/** `export function gradeProcess(input)`: asked when `grade` gave no `process_score`. */
export type GradeProcess = (input: CheckerInput) => number | Promise<number>;

/** Files larger than this are not read: no scenario asks an agent for one. */
const MAXIMUM_FILE_BYTES = 8 * 1024 * 1024;

/**
 * A checkpoint's credit: all or nothing for a boolean, a share (clamped to 0..1) for a number.
 *
 * @param credit whether it holds, or which share of it
 */
export function checkpoint(
  credit: boolean | number,
  points = 1,
  detail?: string,
  category: NonNullable<Checkpoint['category']> = 'correctness',
): Checkpoint {
  const share = typeof credit === 'number' ? Math.min(1, Math.max(0, credit)) : credit ? 1 : 0;
  return { earned: share * points, points, category, ...(detail === undefined ? {} : { detail }) };
}

/** Text of a workspace file; undefined when it is missing, no regular file, larger than 8 MiB or outside. */
export function readText(input: CheckerInput, path: string): string | undefined {
  return readTextIn(input.workspace, path);
}

/** A workspace file as JSON; undefined when it cannot be read or is not JSON. */
export function readJson(input: CheckerInput, path: string): unknown {
  return parseJson(readText(input, path));
}

/** Text of a hidden file (a missing one is a mistake of the suite). */
export function readHiddenText(input: CheckerInput, path: string): string {
  const text = readTextIn(input.hidden, path);
  if (text === undefined)
    throw new Error(`hidden file ${path} is missing; add it to the scenario's hidden_dir`);
  return text;
}

/** A hidden file as JSON. */
export function readHiddenJson(input: CheckerInput, path: string): unknown {
  const value: unknown = JSON.parse(readHiddenText(input, path));
  return value;
}

/** Whether the workspace has a regular file of that name. */
export function fileExists(input: CheckerInput, path: string): boolean {
  const full = inside(input.workspace, path);
  return full !== undefined && (lstatSync(full, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** Every regular file of the workspace, relative with forward slashes, sorted by code point. */
export function listFiles(input: CheckerInput): string[] {
  const found: string[] = [];
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readdirSync(join(input.workspace, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Everything the agent said, one message a line. */
export function assistantText(input: CheckerInput): string {
  return input.trace.events
    .filter((event): event is Message => event.type === 'assistant_message')
    .map((event) => event.text)
    .join('\n');
}

/** Narrows an unknown value to an object with string keys (not an array); undefined when it is none. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readTextIn(root: string, path: string): string | undefined {
  const full = inside(root, path);
  if (full === undefined) return undefined;
  try {
    const stat = lstatSync(full);
    if (!stat.isFile() || stat.size > MAXIMUM_FILE_BYTES) return undefined;
    return readFileSync(full, 'utf8');
  } catch {
    return undefined;
  }
}

/** The absolute path, unless it is absolute already or leads out of `root`. */
function inside(root: string, path: string): string | undefined {
  const normal = posix.normalize(path);
  if (posix.isAbsolute(normal) || normal === '..' || normal.startsWith('../') || normal.includes('\0'))
    return undefined;
  return join(root, normal);
}
