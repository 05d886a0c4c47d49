/**
 * Runs inside a checker's own Node process, which was started before its grading was known. The request comes on
 * standard input as one JSON line; the answer goes to descriptor 3. Imports nothing but Node: the host strips the
 * types and starts it from a place of its own.
 */
import { readFileSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

interface Request {
  readonly nonce: string;
  readonly module: string;
  readonly workspace: string;
  readonly hidden: string;
  readonly tmp: string;
  readonly uid: number | null;
  readonly gid: number | null;
  readonly trace: { readonly events: readonly { readonly type: string }[] };
}
type Answer =
  | { readonly grade: Record<string, unknown> }
  | { readonly failure: { readonly kind: string; readonly message: string } };

const RESULT_FD = 3;
const STACK_LINES = 12;
const MESSAGE_CHARACTERS = 4000;

class InvalidGrade extends Error {}

/** The host has stripped the types of the bundle's files already: loading the stripper costs more than grading. */
registerHooks({
  load: (url, context, nextLoad) =>
    url.startsWith('file:') && /\.m?ts$/.test(url)
      ? { format: 'module', source: readFileSync(new URL(url), 'utf8'), shortCircuit: true }
      : nextLoad(url, context),
});

function readRequest(): Promise<Request> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    process.stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
    process.stdin.on('error', reject);
    process.stdin.on('end', () => {
      // Nothing was asked: the host needs this process no more.
      if (chunks.length === 0) process.exit(0);
      resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request);
    });
  });
}

function become(uid: number, gid: number): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

async function gradeOnce(request: Request): Promise<Answer> {
  const checker = (await import(pathToFileURL(request.module).href)) as Record<string, unknown>;
  const { grade, gradeProcess } = checker;
  if (typeof grade !== 'function') throw new InvalidGrade('the checker exports no function grade(input)');
  const input = {
    workspace: request.workspace,
    hidden: request.hidden,
    trace: request.trace,
    toolCalls: request.trace.events.filter((event) => event.type === 'tool_call'),
  };
  const answer: unknown = await (grade as (input: unknown) => unknown)(input);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    const what = Array.isArray(answer) ? 'an array' : answer === null ? 'null' : typeof answer;
    throw new InvalidGrade(`grade() returned ${what}, not an object`);
  }
  const result: Record<string, unknown> = { ...answer };
  if (typeof gradeProcess === 'function' && (result['process_score'] ?? null) === null) {
    result['process_score'] = await (gradeProcess as (input: unknown) => unknown)(input);
  }
  return { grade: result };
}

/** JSON would turn a number that is none into null. */
function encode(answer: Answer): string {
  return JSON.stringify(answer, (key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new InvalidGrade(`${key || 'the grade'} is ${value}, not a finite number`);
    }
    return value;
  });
}

function failureOf(error: unknown): Answer {
  const kind = error instanceof InvalidGrade ? 'invalid' : 'exception';
  const text =
    error instanceof InvalidGrade
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : `the checker threw ${String(error)}`;
  const lines = text.split('\n').filter((line) => !line.includes('node:internal/'));
  return {
    failure: { kind, message: lines.slice(0, STACK_LINES).join('\n').slice(0, MESSAGE_CHARACTERS) },
  };
}

function send(nonce: string, answer: Answer): void {
  let text: string;
  try {
    text = encode(answer);
  } catch (error) {
    text = JSON.stringify(failureOf(error instanceof InvalidGrade ? error : new InvalidGrade(String(error))));
  }
  let rest = Buffer.from(`${nonce}${text}\n`);
  while (rest.length > 0) rest = rest.subarray(writeSync(RESULT_FD, rest));
}

const request = await readRequest();
process.chdir(request.tmp);
if (request.uid !== null && request.gid !== null) become(request.uid, request.gid);
// What a checker throws in a callback, or a promise that it forgot, has no other way to be told.
process.on('uncaughtException', (error) => {
  send(request.nonce, failureOf(error));
  process.exit(0);
});
let answer: Answer;
try {
  answer = await gradeOnce(request);
} catch (error) {
  answer = failureOf(error);
}
send(request.nonce, answer);
process.exit(0);
