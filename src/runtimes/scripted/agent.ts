/**
 * The scripted agent: a program of its own that executes a script instead of what a model answers. It is staged with
 * its types stripped, so it imports nothing at run time but Node.js and what is staged beside it (program.ts), and
 * runs on every Node.js from 20.
 *
 *     node agent.mjs <plan.json> <turn.json>
 *
 * It appends every event to its session file when it happens, so that a watchdog sees it live, and prints one
 * JSON line when a turn ends in order. How it misbehaves, when told to, is bounded: a machine without any limits
 * survives every behaviour. Format of both: docs/reference/scripted.md.
 */
import { spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { appendFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptStep } from '../../api/scenario.ts';
import type { Behaviour } from '../../api/vocabulary.ts';
import { callModel } from './model-call.ts';
import type { AgentPlan, AgentTurn } from './plan.ts';

const MEBIBYTE = 1024 * 1024;
/** Bounds of what a tool gives back, as real agents have them. */
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_READ_BYTES = 256 * 1024;
/** No behaviour waits longer than this for somebody to end it. */
const MAX_LIFE_MS = 24 * 3600 * 1000;

type ToolName = 'write_file' | 'read_file' | 'edit_file' | 'bash';

interface ToolOutcome {
  readonly status: 'ok' | 'error';
  readonly result: string;
}

/** How a turn ended. `silent` prints no envelope. */
interface Ending {
  readonly exitCode: number;
  readonly stopReason: string | null;
  readonly error?: { readonly kind: string; readonly message: string };
}

/** The session file: one JSON object a line, appended at once. */
class Session {
  readonly #path: string;
  readonly #turn: number;
  #file: number | undefined;
  #torn = false;
  /** Calls of all turns: their ids go on counting. */
  callsSoFar = 0;
  /** Of this turn. */
  calls = 0;
  failures = 0;
  assistantTurns = 0;
  lastText = '';
  /** First step of the script that no earlier turn has begun. */
  nextStep = 0;

  constructor(path: string, turn: number) {
    this.#path = path;
    this.#turn = turn;
    this.#resume();
  }

  append(record: Readonly<Record<string, unknown>>): void {
    if (record['type'] === 'tool_call') {
      this.calls += 1;
      this.callsSoFar += 1;
    }
    if (record['type'] === 'tool_result' && record['status'] === 'error') this.failures += 1;
    if (record['type'] === 'tool_call' || record['type'] === 'assistant') this.assistantTurns += 1;
    if (record['type'] === 'assistant') this.lastText = String(record['text']);
    this.#file ??= openSync(this.#path, 'a', 0o644);
    const line = JSON.stringify({ ...record, turn: this.#turn, time: new Date().toISOString() });
    try {
      appendFileSync(this.#file, `${this.#torn ? '\n' : ''}${line}\n`);
      this.#torn = false;
    } catch (error) {
      // A full disk must not end an agent that is there to fill it; the half line is closed by the next one.
      if (!isFull(error)) throw error;
      this.#torn = true;
    }
  }

  /** Takes up a session that an earlier turn left, which may have been cut off anywhere. */
  #resume(): void {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      return;
    }
    this.#torn = text !== '' && !text.endsWith('\n');
    for (const line of text.split('\n')) {
      try {
        const record = JSON.parse(line) as Readonly<Record<string, unknown>>;
        if (record['type'] === 'tool_call') this.callsSoFar += 1;
        if (typeof record['step'] === 'number') this.nextStep = Math.max(this.nextStep, record['step'] + 1);
      } catch {
        // Not a whole line.
      }
    }
  }
}

class Agent {
  readonly plan: AgentPlan;
  readonly session: Session;

  constructor(plan: AgentPlan, session: Session) {
    this.plan = plan;
    this.session = session;
  }

  say(text: string, step?: number): void {
    this.session.append({ type: 'assistant', text, ...(step === undefined ? {} : { step }) });
  }

  stop(stopReason: string): Ending {
    this.session.append({ type: 'stop', stopReason });
    return { exitCode: 0, stopReason };
  }

  /** Calls a tool as an agent does: the call is on record before it runs, its result after. */
  async call(name: ToolName, args: Readonly<Record<string, string>>, step?: number): Promise<ToolOutcome> {
    const id = `call_${this.session.callsSoFar + 1}`;
    const place = step === undefined ? {} : { step };
    this.session.append({ type: 'tool_call', id, name, arguments: args, ...place });
    const outcome = await this.#run(name, args).catch((error: unknown): ToolOutcome => ({
      status: 'error',
      result: describe(error),
    }));
    this.session.append({ type: 'tool_result', id, name, ...outcome });
    return outcome;
  }

  async #run(name: ToolName, args: Readonly<Record<string, string>>): Promise<ToolOutcome> {
    const path = resolve(this.plan.workspace, args['path'] ?? '');
    switch (name) {
      case 'write_file': {
        const content = args['content'] ?? '';
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        return { status: 'ok', result: `wrote ${Buffer.byteLength(content)} bytes to ${args['path'] ?? ''}` };
      }
      case 'read_file': {
        const bytes = readFileSync(path);
        return { status: 'ok', result: cut(bytes, bytes.length, MAX_READ_BYTES) };
      }
      case 'edit_file': {
        const text = readFileSync(path, 'utf8');
        const parts = text.split(args['old_text'] ?? '');
        if (parts.length !== 2) {
          const found = parts.length === 1 ? 'is not in the file' : `is there ${parts.length - 1} times`;
          return { status: 'error', result: `the text to replace ${found}` };
        }
        writeFileSync(path, parts.join(args['new_text'] ?? ''));
        return { status: 'ok', result: `replaced one passage of ${args['path'] ?? ''}` };
      }
      case 'bash':
        return await this.#shell(args['command'] ?? '');
    }
  }

  /** Runs a command to its end; its background children neither hold the call up nor die with it. */
  async #shell(command: string): Promise<ToolOutcome> {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: this.plan.workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kept: Buffer[] = [];
    let bytes = 0;
    const keep = (data: Buffer) => {
      if (bytes < MAX_OUTPUT_BYTES) kept.push(data.subarray(0, MAX_OUTPUT_BYTES - bytes));
      bytes += data.length;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    const ended = await new Promise<string | null>((done, fail) => {
      child.once('error', fail);
      child.once('exit', (code, signal) =>
        done(signal === null ? (code === 0 ? null : `exit code ${code ?? 0}`) : `killed by ${signal}`),
      );
    });
    await Promise.race([closed, sleep(200)]);
    child.stdout.destroy();
    child.stderr.destroy();
    const output = cut(Buffer.concat(kept), bytes, MAX_OUTPUT_BYTES);
    if (ended === null) return { status: 'ok', result: output };
    return {
      status: 'error',
      result: `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${ended}]`,
    };
  }
}

/** The tool call of a step; undefined for the steps that call none. */
function toolCallOf(step: ScriptStep): readonly [ToolName, Readonly<Record<string, string>>] | undefined {
  if ('write' in step) return ['write_file', step.write];
  if ('read' in step) return ['read_file', step.read];
  if ('edit' in step) {
    return ['edit_file', { path: step.edit.path, old_text: step.edit.old, new_text: step.edit.new }];
  }
  if ('shell' in step) return ['bash', { command: step.shell }];
  return undefined;
}

/** Does the steps that no earlier turn began and ends in order, or as a `fail` step says. */
async function followScript(agent: Agent): Promise<Ending> {
  const { steps } = agent.plan;
  const first = agent.session.nextStep;
  for (const [index, step] of steps.entries()) {
    if (index < first) continue;
    const toolCall = toolCallOf(step);
    if (toolCall !== undefined) await agent.call(...toolCall, index);
    else if ('message' in step) agent.say(step.message, index);
    else if ('wait' in step) await sleep(step.wait * 1000);
    else if ('fail' in step) {
      const message = `the script ends here with exit code ${step.fail}`;
      return { exitCode: step.fail, stopReason: null, error: { kind: 'script', message } };
    }
  }
  const last = steps.at(-1);
  if (first >= steps.length) agent.say('There is nothing left to do.');
  else if (last === undefined || !('message' in last)) agent.say('Done.');
  return agent.stop('stop');
}

/** The first tool calls of the script; one harmless call where it has none, so that work shows. */
async function beginWork(agent: Agent, count: number): Promise<void> {
  const calls = agent.plan.steps.flatMap((step, index) => {
    const toolCall = toolCallOf(step);
    return toolCall === undefined ? [] : [{ toolCall, index }];
  });
  for (const { toolCall, index } of calls.slice(0, count)) await agent.call(...toolCall, index);
  if (calls.length === 0 && count > 0) await agent.call('bash', { command: 'pwd' });
}

async function hang(agent: Agent): Promise<Ending> {
  await beginWork(agent, agent.plan.config.hang.steps);
  return await waitToBeEnded();
}

async function crash(agent: Agent): Promise<Ending> {
  const { steps, exitCode, signal } = agent.plan.config.crash;
  await beginWork(agent, steps);
  if (signal !== undefined) {
    process.kill(process.pid, signal);
    await sleep(1000);
  }
  process.exit(exitCode);
}

/** Allocates memory that is really used until something ends the process. */
async function outOfMemory(agent: Agent): Promise<Ending> {
  const { capMiB, chunkMiB } = agent.plan.config.oom;
  try {
    // The kernel is to choose this process, not whoever else is in the same cgroup.
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Not Linux, or not allowed: the kernel's own choice stands.
  }
  const held: Buffer[] = [];
  for (let mebibytes = 0; mebibytes < capMiB; mebibytes += chunkMiB) {
    held.push(Buffer.alloc(chunkMiB * MEBIBYTE, 1));
    if (held.length % 16 === 1)
      agent.session.append({ type: 'note', text: `holds ${mebibytes + chunkMiB} MiB` });
    await sleep(5);
  }
  // A watchdog that polls gets the time to see it.
  await sleep(5000);
  const message = `nothing ended the process at ${held.length * chunkMiB} MiB`;
  return { exitCode: 71, stopReason: null, error: { kind: 'memory', message } };
}

/** Appends to a file of the workspace until its time is over or the folder is gone. $1: file, $2: rounds of 0.2 s. */
const DAEMON = `trap '' TERM INT HUP
i=0
while [ "$i" -lt "$2" ]; do
  printf '%s\\n' "$i" >> "$1" || exit 0
  i=$((i + 1))
  sleep 0.2
done`;
/** Starts $0 twice forked, so that init becomes its parent, in a session of its own where there is setsid. */
const DAEMONIZE = `if command -v setsid > /dev/null; then (setsid sh -c "$0" daemon "$1" "$2" &)
else (sh -c "$0" daemon "$1" "$2" &)
fi`;

/** Will not be ended: no signal that can be ignored ends it, and its daemons outlive it. */
async function stubborn(agent: Agent): Promise<Ending> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => undefined);
  const { daemons, lifeSeconds } = agent.plan.config.stubborn;
  for (let daemon = 1; daemon <= daemons; daemon += 1) {
    const rounds = Math.ceil(lifeSeconds / 0.2);
    const child = spawn('/bin/sh', ['-c', DAEMONIZE, DAEMON, `daemon-${daemon}.log`, String(rounds)], {
      cwd: agent.plan.workspace,
      detached: true,
      stdio: 'ignore',
    });
    child.on('error', () => undefined);
    child.unref();
  }
  const end = Date.now() + lifeSeconds * 1000;
  for (let round = 1; Date.now() < end; round += 1) {
    await agent.call('write_file', { path: 'stubborn.txt', content: `still at work: ${round}\n` });
    await sleep(Math.max(0, Math.min(500, end - Date.now())));
  }
  agent.say('Done after all.');
  return agent.stop('stop');
}

/** Fills the disk, slowly enough for a watchdog that polls, with bytes that no file system compresses. */
async function flood(agent: Agent): Promise<Ending> {
  const { capMiB, chunkMiB } = agent.plan.config.flood;
  const chunk = randomFillSync(Buffer.alloc(chunkMiB * MEBIBYTE));
  const folder = resolve(agent.plan.workspace, 'flood');
  mkdirSync(folder, { recursive: true });
  const patience = Date.now() + 120_000;
  let written = 0;
  while (written < capMiB && Date.now() < patience) {
    const name = `flood/${String(written / chunkMiB).padStart(5, '0')}.bin`;
    try {
      writeFileSync(resolve(agent.plan.workspace, name), chunk);
      written += chunkMiB;
      agent.session.append({ type: 'note', text: `wrote ${name}, ${written} MiB in all` });
      await sleep(chunkMiB * 5);
    } catch (error) {
      if (!isFull(error)) throw error;
      agent.session.append({ type: 'note', text: `${name}: ${describe(error)}` });
      await sleep(500);
    }
  }
  agent.say(`Wrote ${written} MiB.`);
  return agent.stop('stop');
}

async function selfDelete(agent: Agent): Promise<Ending> {
  await agent.call('bash', { command: 'rm -rf -- "$PWD"' });
  agent.say('The workspace is clean.');
  return agent.stop('stop');
}

/** Is refused by the provider in its first attempts, after a back-off of its own; then works. */
async function refusedAtFirst(agent: Agent): Promise<Ending> {
  const { refusals, backoffMs } = agent.plan.config.provider429;
  if (agent.plan.attempt > refusals) return await followScript(agent);
  const message = 'the provider refused the request: too many requests';
  for (const attempt of [0, 1, 2]) {
    const final = attempt === 2;
    agent.session.append({ type: 'provider_error', error: 'rate_limit', status: 429, final, message });
    if (!final) await sleep(backoffMs * 2 ** attempt);
  }
  agent.say(agent.plan.placeholder);
  agent.stop('error');
  return { exitCode: 1, stopReason: 'error', error: { kind: 'rate_limit', message } };
}

async function doNothing(agent: Agent): Promise<Ending> {
  agent.say('There is nothing for me to do here.');
  return await Promise.resolve(agent.stop('stop'));
}

async function waitToBeEnded(): Promise<Ending> {
  await sleep(MAX_LIFE_MS);
  return { exitCode: 72, stopReason: null };
}

const BEHAVE = {
  solve: followScript,
  wrong: followScript,
  unsafe: followScript,
  noop: doNothing,
  silent: waitToBeEnded,
  hang,
  crash,
  oom: outOfMemory,
  stubborn,
  flood,
  selfdelete: selfDelete,
  provider429: refusedAtFirst,
} satisfies Record<Behaviour, (agent: Agent) => Promise<Ending>>;

/** Behaviours that ask no model: one says nothing to anybody, the other plays its provider's refusals itself. */
const ASKS_NO_MODEL: readonly Behaviour[] = ['silent', 'provider429'];

/** Asks the run's model what to do, as an agent does, and tries again where that may help. @returns how the turn ends when it never answered */
async function askModel(agent: Agent, message: string): Promise<Ending | null> {
  const { model, config, behaviour } = agent.plan;
  if (model === null || ASKS_NO_MODEL.includes(behaviour)) return null;
  const { retries, backoffMs, mostSeconds } = config.model;
  for (let attempt = 0; ; attempt += 1) {
    const said = await callModel(model, message);
    if ('answer' in said) {
      agent.session.append({ type: 'model_answer', answer: said.answer.slice(0, MAX_OUTPUT_BYTES) });
      return null;
    }
    const { error, status, passing, retryAfterMs } = said;
    const final = !passing || attempt >= retries;
    agent.session.append({ type: 'provider_error', error, status, final, message: said.message });
    if (final) {
      agent.say(agent.plan.placeholder);
      agent.stop('error');
      return { exitCode: 1, stopReason: 'error', error: { kind: error, message: said.message } };
    }
    await sleep(Math.min(mostSeconds * 1000, retryAfterMs ?? backoffMs * 2 ** attempt));
  }
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Text of at most `limit` bytes; what was left out is said. `total` counts also bytes that were not kept. */
function cut(bytes: Buffer, total: number, limit: number): string {
  const text = bytes.subarray(0, limit).toString('utf8');
  return total <= limit ? text : `${text}\n[${total - limit} more bytes left out]`;
}

function envelope(agent: Agent, ending: Ending): string {
  const { session, plan } = agent;
  return `${JSON.stringify({
    ok: ending.exitCode === 0,
    final: session.lastText,
    sessionId: plan.sessionId,
    stopReason: ending.stopReason,
    assistantTurns: session.assistantTurns,
    toolSummary: { calls: session.calls, failures: session.failures },
    error: ending.error ?? null,
  })}\n`;
}

async function main(): Promise<never> {
  const [planPath, turnPath] = process.argv.slice(2);
  if (planPath === undefined || turnPath === undefined) throw new Error('usage: agent.mjs PLAN TURN');
  const plan = JSON.parse(readFileSync(planPath, 'utf8')) as AgentPlan;
  const turn = JSON.parse(readFileSync(turnPath, 'utf8')) as AgentTurn;
  const session = new Session(plan.session, turn.turn);
  const agent = new Agent(plan, session);
  if (plan.behaviour !== 'silent') {
    session.append({ type: 'session', version: 1, sessionId: plan.sessionId });
    session.append({ type: 'user', text: turn.message });
  }
  const ending = (await askModel(agent, turn.message)) ?? (await BEHAVE[plan.behaviour](agent));
  process.stdout.on('error', () => undefined);
  await new Promise((done) => process.stdout.write(envelope(agent, ending), done));
  process.exit(ending.exitCode);
}

await main();
