/* eslint max-lines: off -- it is copied alone into containers of others, so it cannot be split */
/**
 * The shim: the only program of ours that runs beside an agent, under the agent's user. It is PID 1 of the
 * executor container, or of a PID namespace on one machine, or a plain process where there is neither.
 *
 * It starts the turn it is told, streams output, tells how the turn ended, and kills every process that the agent
 * left: when told, when the wall bound passes, and when the harness is gone. It knows nothing of tasks or scores.
 *
 * It stays one file without imports of ours (types are erased), because it is copied alone into containers
 * whose images we do not build, and runs on any Node.js from 20 on.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Containment, FromShim, ToShim } from './protocol.ts';

const PROTOCOL = 1;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Raw bytes of output in one message: far below the line bound after base64. */
const OUTPUT_PART_BYTES = 64 * 1024;
/** After the turn's process exited, its pipes may be held open by a daemon: no longer than this is waited. */
const DRAIN_MS = 50;
/** Leftover processes that are named; all are counted. */
const PROCESSES_TOLD = 64;
const LIMIT_POLL_MS = 250;
const KILL_PATIENCE_MS = 30_000;
/** How long the harness has to hear that the pod is being ended, before the shim ends the turn by itself. */
const TERM_HEED_MS = 2_000;
const TERM_GRACE_MS = 10_000;
/** How long PID 1 stays for a harness that still collects, once it was asked to end. */
const TERM_STAY_MS = 60_000;
const CONNECT_RETRY_MS = 50;
/** For pods, where the harness may come up long after the shim; on one machine it listens first. */
const CONNECT_PATIENCE_SECONDS = 600;

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  readonly state: string;
  /** Start in ticks since boot; 0 where it is not known. */
  readonly started: number;
  readonly command: string;
}

/** Cuts a stream of bytes into lines of bounded length. */
export class LineReader {
  private parts: Buffer[] = [];
  private length = 0;
  private readonly bound: number;

  constructor(bound = MAX_LINE_BYTES) {
    this.bound = bound;
  }

  /** @returns the whole lines so far, or null when a line is longer than the bound: then nothing can be trusted */
  push(chunk: Buffer): string[] | null {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.parts.push(chunk.subarray(start, end));
      if (this.length + end - start > this.bound) return null;
      lines.push(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      this.parts.push(chunk.subarray(start));
      this.length += chunk.length - start;
    }
    return this.length > this.bound ? null : lines;
  }
}

/** Reads /proc/<pid>/stat; the command may itself hold spaces and brackets. */
export function parseStat(text: string): ProcessRow | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open === -1 || close < open) return null;
  const fields = text.slice(close + 2).split(' ');
  const [state, ppid, group, session] = fields;
  if (state === undefined || session === undefined) return null;
  return {
    pid: Number(text.slice(0, open)),
    ppid: Number(ppid),
    group: Number(group),
    session: Number(session),
    state,
    started: Number(fields[19] ?? 0),
    command: text.slice(open + 1, close),
  };
}

/**
 * The processes that belong to an agent which has neither a namespace nor a user of its own: descendants of
 * `root`, processes that are marked, and whoever shares a session or group with one of them. `sessions` carries what was learnt from one look to the next, because parents die.
 */
export function treeOf(
  rows: readonly ProcessRow[],
  root: number,
  sessions: Set<number>,
  marked: (row: ProcessRow) => boolean,
): ProcessRow[] {
  const own = rows.find((row) => row.pid === root);
  const members = new Map<number, ProcessRow>();
  for (let grown = true; grown;) {
    grown = false;
    for (const row of rows) {
      if (row.pid === root || members.has(row.pid)) continue;
      const belongs =
        row.ppid === root ||
        members.has(row.ppid) ||
        sessions.has(row.session) ||
        sessions.has(row.group) ||
        marked(row);
      if (!belongs) continue;
      members.set(row.pid, row);
      for (const id of [row.session, row.group])
        if (id !== own?.session && id !== own?.group) sessions.add(id);
      grown = true;
    }
  }
  return [...members.values()];
}

/** Every process of the machine, or of the PID namespace whose /proc this is. */
function processes(): ProcessRow[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return processesByPs();
  }
  const rows: ProcessRow[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const row = parseStat(readText(`/proc/${name}/stat`));
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** Where there is no /proc (macOS); there a process group stands for the session. */
function processesByPs(): ProcessRow[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,state=,comm='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, group, state, ...command] = line.trim().split(/\s+/);
    if (state === undefined) return [];
    const ids = { pid: Number(pid), ppid: Number(ppid), group: Number(group), session: Number(group) };
    return [{ ...ids, state: state.charAt(0), started: 0, command: command.join(' ') }];
  });
}

/** Real user of a process, also of one that hides what else it is; null when it has gone. */
function userOf(pid: number): number | null {
  const uid = /^Uid:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1];
  return uid === undefined ? null : Number(uid);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the process ended, or is not ours to look into
  }
}

/** The name by which people know a process: of its program, because runtimes rename their threads. */
function nameOf({ pid, command }: ProcessRow): string {
  const [program = ''] = readText(`/proc/${pid}/cmdline`).split('\0');
  return (program === '' ? command : program.slice(program.lastIndexOf('/') + 1)).slice(0, 256);
}

interface Leftover {
  readonly pid: number;
  readonly uid: number | null;
  readonly command: string;
}

/** Knows which processes are the agent's, and kills them. */
class Reach {
  readonly containment: Containment;
  private readonly marker: string;
  private readonly folder: string | undefined;
  private readonly since: number;
  private readonly sessions = new Set<number>();

  constructor({ REACH: wanted, FOLDER: folder, SINCE: since }: Settings) {
    const uid = process.getuid?.() ?? 0;
    // Signals to -1 reach every process one may signal: only where that means the agent's alone.
    if (process.pid === 1) this.containment = 'namespace';
    else if (wanted === `uid:${uid}` && uid !== 0) this.containment = 'uid';
    else this.containment = 'tree';
    this.marker = `CLAWBENCH_ATTEMPT=${process.env['CLAWBENCH_ATTEMPT'] ?? ''}`;
    this.folder = folder;
    this.since = Number(since ?? parseStat(readText('/proc/self/stat'))?.started ?? 0);
  }

  /** The agent's living processes. Zombies are dead: nobody but their parent can clear them away. */
  living(deep = true): ProcessRow[] {
    const rows = processes().filter((row) => row.state !== 'Z' && row.state !== 'X');
    const others = rows.filter((row) => row.pid !== process.pid);
    if (this.containment === 'namespace') return others;
    if (this.containment === 'uid') return others.filter((row) => userOf(row.pid) === process.getuid?.());
    return treeOf(rows, process.pid, this.sessions, (row) => deep && this.isMarked(row));
  }

  killAllOnce(): void {
    if (this.containment !== 'tree') {
      kill(-1, 'SIGKILL');
      return;
    }
    for (const row of this.living()) kill(row.pid, 'SIGKILL');
  }

  /** Kills until no process is left. @returns what was alive at first, and how many would not die */
  async killEverything(): Promise<{ before: Leftover[]; remaining: number }> {
    const before = this.living().map((row) => ({ pid: row.pid, uid: userOf(row.pid), command: nameOf(row) }));
    const until = performance.now() + KILL_PATIENCE_MS;
    let remaining = before.length;
    for (let wait = 1; remaining > 0 && performance.now() < until; wait = Math.min(wait * 2, 50)) {
      this.killAllOnce();
      await delay(wait);
      remaining = this.living().length;
    }
    if (remaining === 0) this.sessions.clear();
    return { before, remaining };
  }

  /**
   * By its first environment, or, where it threw that away, by working in the attempt's folder. The latter holds
   * only for processes younger than the shim: an older one is of somebody who looks at the folder.
   */
  private isMarked({ pid, started }: ProcessRow): boolean {
    if (started < this.since) return false;
    if (`\0${readText(`/proc/${pid}/environ`)}\0`.includes(`\0${this.marker}\0`)) return true;
    if (this.folder === undefined) return false;
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${this.folder}/`);
    } catch {
      return false;
    }
  }
}

interface Turn {
  readonly number: number;
  readonly child: ChildProcess;
  readonly oomBefore: number;
  readonly timers: NodeJS.Timeout[];
  limit: 'wall' | 'memory' | 'pids' | null;
}

/** One conversation with the harness. */
class Conversation {
  private readonly socket: Socket;
  private readonly reach: Reach;
  private readonly lines = new LineReader();
  private turn: Turn | null = null;
  private mainPid = 0;
  private fileProblem: string | null = null;
  private ending = false;
  /** Messages are handled one after the other, also those that wait. */
  private work: Promise<void> = Promise.resolve();

  constructor(socket: Socket, reach: Reach, token: string | undefined) {
    this.socket = socket;
    this.reach = reach;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('drain', () => this.resumeOutput());
    for (const event of ['end', 'close', 'error']) socket.on(event, () => this.leave(1));
    process.on('SIGTERM', () => this.terminated());
    const containment = reach.containment;
    this.send({
      type: 'hello',
      version: process.version,
      protocol: PROTOCOL,
      ...(token === undefined ? {} : { token }),
      containment,
    });
  }

  private send(message: FromShim): boolean {
    return this.socket.writable && this.socket.write(`${JSON.stringify(message)}\n`);
  }

  private receive(chunk: Buffer): void {
    const lines = this.lines.push(chunk);
    if (lines === null) {
      this.leave(2);
      return;
    }
    for (const line of lines) {
      this.work = this.work.then(() => this.handle(JSON.parse(line) as ToShim)).catch(() => this.leave(2));
    }
  }

  private async handle(message: ToShim): Promise<void> {
    switch (message.type) {
      case 'files': {
        this.write(message);
        return;
      }
      case 'start': {
        this.start(message);
        return;
      }
      case 'killAll':
        if (message.signal === 'SIGTERM') {
          this.terminateTurn();
          return;
        }
        return this.killAll();
      case 'end': {
        this.leave(0);
        return;
      }
    }
  }

  /** Under a new name first: the agent may have put a link or a pipe where the file should be. */
  private write(message: Extract<ToShim, { type: 'files' }>): void {
    try {
      const bytes = Buffer.from(message.base64, 'base64');
      if (message.append === true) {
        appendFileSync(message.path, bytes);
        return;
      }
      mkdirSync(dirname(message.path), { recursive: true });
      const temporary = `${message.path}.${process.pid}.clawbench`;
      rmSync(temporary, { force: true });
      writeFileSync(temporary, bytes, { flag: 'wx', mode: message.mode });
      chmodSync(temporary, message.mode);
      renameSync(temporary, message.path);
    } catch (error) {
      this.fileProblem ??= String(error);
    }
  }

  private start(message: Extract<ToShim, { type: 'start' }>): void {
    const { turn: number, argv, env, cwd } = message;
    const problem = this.turn === null ? this.fileProblem : 'another turn is still running';
    const [program, ...rest] = argv;
    if (problem !== null || program === undefined) {
      this.send({ type: 'failed', turn: number, message: problem ?? 'there is no program to start' });
      return;
    }
    const oomBefore = oomKills();
    let child: ChildProcess;
    try {
      child = spawn(program === 'node' ? process.execPath : program, rest, {
        cwd,
        env: withPath(env),
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (error) {
      this.send({ type: 'failed', turn: number, message: String(error) });
      return;
    }
    const turn: Turn = { number, child, oomBefore, timers: [], limit: null };
    child.once('error', (error) => {
      if (child.pid === undefined) this.send({ type: 'failed', turn: number, message: String(error) });
    });
    if (child.pid === undefined) return;
    // Of all processes the agent's are to die first when memory is short, never the shim or the machine's own.
    attempt(() => writeFileSync(`/proc/${child.pid ?? 0}/oom_score_adj`, '800'));
    this.turn = turn;
    this.mainPid = child.pid;
    this.send({ type: 'started', turn: number, pid: child.pid });
    this.forward(number, 'stdout', child.stdout);
    this.forward(number, 'stderr', child.stderr);
    turn.timers.push(setTimeout(() => this.limit(turn, 'wall'), message.wallSeconds * 1000));
    const { memoryBytes = Infinity, pids = Infinity } = message;
    if (memoryBytes < Infinity || pids < Infinity) {
      turn.timers.push(setInterval(() => this.look(turn, memoryBytes, pids), LIMIT_POLL_MS));
    }
    child.once('exit', (code, signal) => this.exited(turn, code, signal));
  }

  private forward(turn: number, stream: 'stdout' | 'stderr', source: Readable | null): void {
    source?.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += OUTPUT_PART_BYTES) {
        const base64 = chunk.subarray(at, at + OUTPUT_PART_BYTES).toString('base64');
        if (!this.send({ type: 'output', turn, stream, base64 })) source.pause();
      }
    });
    source?.on('error', () => undefined);
  }

  private resumeOutput(): void {
    this.turn?.child.stdout?.resume();
    this.turn?.child.stderr?.resume();
  }

  /** A bound that no cgroup holds, by what the agent's processes use now. */
  private look(turn: Turn, memoryBytes: number, pids: number): void {
    const living = this.reach.living(false);
    if (living.length > pids) {
      this.limit(turn, 'pids');
      return;
    }
    let bytes = 0;
    for (const { pid } of living) {
      const status = readText(`/proc/${pid}/status`);
      for (const field of ['RssAnon', 'RssShmem']) {
        bytes += 1024 * Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      }
    }
    if (bytes > memoryBytes) this.limit(turn, 'memory');
  }

  private limit(turn: Turn, limit: 'wall' | 'memory' | 'pids'): void {
    turn.limit ??= limit;
    void this.reach.killEverything();
  }

  private exited(turn: Turn, code: number | null, signal: NodeJS.Signals | null): void {
    for (const timer of turn.timers) clearTimeout(timer);
    const streams = [turn.child.stdout, turn.child.stderr].filter(
      (stream) => stream?.readableEnded === false,
    );
    let open = streams.length;
    let told = false;
    const tell = () => {
      if (told) return;
      told = true;
      if (this.turn === turn) this.turn = null;
      const kills = Math.max(0, oomKills() - turn.oomBefore);
      this.send({ type: 'exit', turn: turn.number, code, signal, oomKills: kills, limit: turn.limit });
    };
    if (open === 0) {
      tell();
      return;
    }
    for (const stream of streams) {
      stream?.resume();
      stream?.once('close', () => {
        open -= 1;
        if (open === 0) tell();
      });
    }
    setTimeout(tell, DRAIN_MS);
  }

  private terminateTurn(): void {
    if (this.turn?.child.pid !== undefined) kill(-this.turn.child.pid, 'SIGTERM');
  }

  private async killAll(): Promise<void> {
    const { before, remaining } = await this.reach.killEverything();
    const left = before.filter((row) => row.pid !== this.mainPid);
    const processes = left.slice(0, PROCESSES_TOLD);
    this.send({ type: 'dead', count: left.length, processes, remaining });
  }

  /**
   * SIGTERM to the shim itself: the pod is being ended. The harness is told so too, at about the same time, and still
   * collects. It goes first: an agent that ended before the harness knew why would look like one that crashed.
   */
  private terminated(): void {
    setTimeout(() => this.terminateTurn(), TERM_HEED_MS);
    setTimeout(() => void this.reach.killEverything(), TERM_GRACE_MS);
    setTimeout(() => this.leave(143), TERM_STAY_MS);
  }

  private leave(code: number): void {
    if (this.ending) return;
    this.ending = true;
    void this.reach.killEverything().finally(() => process.exit(code));
  }
}

/**
 * Kills of the memory controller in the shim's own cgroup, version 2 or 1. In a container the cgroup is the
 * root of what is mounted, on a machine it stands under the path that /proc/self/cgroup names.
 */
export function oomKills(proc = '/proc/self/cgroup', mount = '/sys/fs/cgroup'): number {
  for (const line of readText(proc).split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const places =
      controllers === ''
        ? [join(mount, path, 'memory.events'), join(mount, 'memory.events')]
        : controllers.split(',').includes('memory')
          ? [join(mount, 'memory', path, 'memory.oom_control'), join(mount, 'memory', 'memory.oom_control')]
          : [];
    for (const place of places) {
      const count = /^oom_kill (\d+)$/m.exec(readText(place))?.[1];
      if (count !== undefined) return Number(count);
    }
  }
  return 0;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal)); // it may be gone already
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // by intent: what is attempted may fail, and nothing depends on it
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Where programs lie is for the image to say: its own PATH stands where the harness names none. The plain word
 * `node` is the Node.js that runs the shim, wherever the image has it.
 */
function withPath(env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH: path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } = process.env;
  return { PATH: path, ...env };
}

/** Gives up root for `<uid>:<gid>`, where the launcher had no other program to do so. */
function dropTo(ids: string | undefined): void {
  const [uid, gid] = (ids ?? '').split(':').map(Number);
  if (uid === undefined || gid === undefined || Number.isNaN(uid) || uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

const SETTINGS = ['ADDRESS', 'TOKEN', 'PATIENCE', 'DROP', 'REACH', 'FOLDER', 'SINCE'] as const;
type Settings = Record<(typeof SETTINGS)[number], string | undefined>;

/** Takes what is meant for the shim out of its environment. */
function takeSettings(): Settings {
  const taken = Object.fromEntries(SETTINGS.map((name) => [name, process.env[`CLAWBENCH_SHIM_${name}`]]));
  for (const name of SETTINGS) Reflect.deleteProperty(process.env, `CLAWBENCH_SHIM_${name}`);
  return taken as Settings;
}

function serve(): void {
  const settings = takeSettings();
  const { ADDRESS: address = '127.0.0.1:7070', TOKEN: token, PATIENCE } = settings;
  dropTo(settings.DROP);
  const reach = new Reach(settings);
  const patienceMs = 1000 * Number(PATIENCE ?? CONNECT_PATIENCE_SECONDS);
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const host = address.slice(0, address.lastIndexOf(':'));
  const until = performance.now() + patienceMs;
  const dial = () => {
    const socket = connect({ host, port });
    const retry = () => {
      if (performance.now() > until) process.exit(3);
      setTimeout(dial, CONNECT_RETRY_MS);
    };
    socket.once('error', retry);
    socket.once('connect', () => {
      socket.off('error', retry);
      new Conversation(socket, reach, token);
    });
  };
  dial();
}

/** Kills what an agent left whose own shim is gone. */
async function reap(): Promise<void> {
  const { before, remaining } = await new Reach(takeSettings()).killEverything();
  process.stdout.write(`${JSON.stringify({ count: before.length, remaining })}\n`);
}

if (process.argv[2] === 'serve') serve();
if (process.argv[2] === 'reap') void reap();
