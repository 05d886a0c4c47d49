import type { ResolvedTimeouts } from '../api/timeouts.ts';
import type { KillReason } from '../api/vocabulary.ts';
import type { TurnFile } from '../runtimes/adapter.ts';
import type { Clock } from '../api/clock.ts';
import { DISK_GLANCE_MS, DiskWatch } from './disk-watch.ts';
import type { Executor } from './executor.ts';
import type { Journal } from './journal.ts';
import type { OutputLog } from './output-log.ts';
import { fingerprint } from './progress.ts';
import type { FromShim } from './shim/protocol.ts';
import type { ShimConnection, TurnEnd } from './shim/connection.ts';
import { turnBound, watch, type WatchState } from './watch.ts';

/** How long the harness waits for others; in milliseconds. */
export interface Patience {
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** A shim that does not answer within this time is stopped or hangs, and is given up. */
  readonly answerMs: number;
}

/** The grace is that of the executor specification; the shim itself kills for at most 30 s. */
export const DEFAULT_PATIENCE: Patience = { killGraceMs: 10_000, answerMs: 35_000 };

/** The shim's own wall bound stands this far behind the harness's. */
const SHIM_WALL_MARGIN_SECONDS = 60;

type Dead = Extract<FromShim, { type: 'dead' }>;

export interface TurnSetting {
  readonly executor: Executor;
  readonly connection: ShimConnection;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly timeouts: ResolvedTimeouts;
  /** Aborted by whoever wants the attempt ended; reason `cancelled`, else it counts as interrupted. */
  readonly signal: AbortSignal;
  /** Time for which the gateway has held calls of this attempt so far. */
  readonly heldMs: () => number;
  readonly patience: Patience;
}

export interface Turn {
  /** 1-based. */
  readonly number: number;
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly files: readonly TurnFile[];
  /** Files and folders whose change means that the agent lives. */
  readonly liveness: readonly string[];
  /** When the attempt's first turn was started, monotonic; null when this is the first. */
  readonly firstStartedAt: number | null;
  readonly log: OutputLog;
}

export interface TurnRecord {
  readonly end: TurnEnd;
  readonly startedAt: number;
  readonly killReason: KillReason | null;
  /** What was alive when the turn had ended; null when the shim could not tell. */
  readonly leftovers: Dead | null;
}

/**
 * Runs one turn to its end: starts it, watches it, ends it when one of its clocks runs out, and has every process
 * of the executor killed. When this returns, nothing of the agent runs any more.
 *
 * A turn that ended by itself is given the settling time before what it left is killed, so that a runtime may
 * still flush its files; a turn that was ended by force is dead at once and settles then.
 */
export async function runTurn(setting: TurnSetting, turn: Turn): Promise<TurnRecord> {
  const { connection, executor, journal, clock, timeouts } = setting;
  const diskLimit = executor.limits.diskBytes;
  const { workspace } = executor.paths;
  const disk = diskLimit === null ? null : new DiskWatch(executor.writable, diskLimit);
  const before = await fingerprint([workspace, ...turn.liveness]);
  await disk?.measure();

  connection.writeFiles(turn.files);
  const sent = clock.monotonicMs();
  const wallLeft = timeouts.wall - (sent - (turn.firstStartedAt ?? sent)) / 1000;
  const running = connection.start(
    {
      turn: turn.number,
      argv: turn.argv,
      env: turn.env,
      cwd: turn.cwd,
      wallSeconds: Math.max(1, wallLeft) + SHIM_WALL_MARGIN_SECONDS,
      ...shimLimits(executor),
    },
    (stream, bytes, resume) => turn.log.take(stream, bytes, resume),
  );
  await within(running.started, clock, setting.patience.answerMs);
  const startedAt = clock.monotonicMs();
  const spentMs = journal.runtimeMs;
  const timeoutSeconds = turnBound(timeouts.turn, timeouts.total, spentMs);
  journal.dispatch({ event: 'turn_started', turn: turn.number, timeoutSeconds });

  const watched = await watchTurn(setting, turn, { ended: running.ended, startedAt, spentMs, before, disk });
  let { killReason } = watched;
  let end = watched.end;
  let escalated = false;
  let noted = false;
  if (end === null && killReason !== null) {
    journal.dispatch({ event: 'sigterm', turn: turn.number, reason: killReason }, runtimeNow());
    connection.terminate();
    // An agent that fills the disk is not asked twice: in ten seconds it could fill it.
    const grace = killReason === 'disk_limit' ? 0 : setting.patience.killGraceMs;
    end = await within(running.ended, clock, grace);
    if (end === null) {
      escalated = true;
      journal.dispatch({ event: 'sigkill', turn: turn.number, reason: killReason }, runtimeNow());
    }
  }
  const forced = killReason !== null;
  noteExit();
  if (!forced) await settle();
  const leftovers = await killAll(setting);
  // Whatever ran is dead now, so its exit is on the way; a shim that is gone tells nothing.
  end ??= (await within(running.ended, clock, setting.patience.answerMs)) ?? {
    kind: 'lost',
    message: 'the shim does not answer',
  };
  noteExit();
  journal.dispatch({ event: 'turn_dead', turn: turn.number, leftover: leftovers?.count ?? 0 });
  if (forced) await settle();

  if (killReason === null && end.kind === 'exit') {
    // What ended by itself may yet have passed a bound since the last look.
    if (end.limit === 'wall') killReason = 'wall_deadline';
    else if (disk !== null && (await disk.measure()) > 0) killReason = 'disk_limit';
  }
  if (killReason !== null)
    journal.observe({ kind: 'killed', reason: killReason, turn: turn.number, escalated });
  return { end, startedAt, killReason, leftovers };

  function runtimeNow(): number {
    return spentMs + clock.monotonicMs() - startedAt;
  }

  /** The turn's process is gone: here its time ends. */
  function noteExit(): void {
    if (noted || end === null || end.kind === 'failed') return;
    noted = true;
    journal.runtimeMs = runtimeNow();
    if (end.kind !== 'exit') return;
    const { code, signal, oomKills } = end;
    journal.dispatch({ event: 'turn_exited', turn: turn.number, code, signal, oomKills });
  }

  async function settle(): Promise<void> {
    await journal.step('executor', 'settle', () => clock.sleep(timeouts.settle * 1000, setting.signal));
    journal.dispatch({ event: 'settled' });
  }
}

interface Watched {
  readonly ended: Promise<TurnEnd>;
  readonly startedAt: number;
  readonly spentMs: number;
  readonly before: string;
  readonly disk: DiskWatch | null;
}

/** Looks again and again until the turn ends (`end`) or has to be ended (`killReason`). */
async function watchTurn(
  setting: TurnSetting,
  turn: Turn,
  watched: Watched,
): Promise<{ end: TurnEnd | null; killReason: KillReason | null }> {
  const { clock, journal, signal } = setting;
  const heldBefore = setting.heldMs();
  let state: WatchState = {
    timeouts: setting.timeouts,
    startedAt: watched.startedAt,
    firstStartedAt: turn.firstStartedAt ?? watched.startedAt,
    spentMs: watched.spentMs,
    lastProgressAt: null,
    heldMs: 0,
    heldAtProgressMs: 0,
    diskOverBytes: 0,
    abort: null,
  };
  let seen = { files: watched.before, bytes: 0 };
  let nextLook = 0;
  for (;;) {
    state = { ...state, heldMs: setting.heldMs() - heldBefore, abort: abortOf(signal) };
    const action = watch(clock.monotonicMs(), state);
    if (action.kind === 'kill') return { end: null, killReason: action.reason };
    nextLook = clock.monotonicMs() + action.ms;

    let end: TurnEnd | null = null;
    let suspicious = false;
    while (end === null && !suspicious && !signal.aborted && clock.monotonicMs() < nextLook) {
      const left = nextLook - clock.monotonicMs();
      end = await within(
        watched.ended,
        clock,
        watched.disk === null ? left : Math.min(left, DISK_GLANCE_MS),
        signal,
      );
      suspicious = end === null && ((await watched.disk?.isSuspicious()) ?? false);
    }
    if (end !== null) return { end, killReason: null };

    const now = {
      files: await fingerprint([setting.executor.paths.workspace, ...turn.liveness]),
      bytes: turn.log.bytes,
    };
    if (now.files !== seen.files || now.bytes !== seen.bytes) {
      if (state.lastProgressAt === null) {
        const spent = watched.spentMs + clock.monotonicMs() - watched.startedAt;
        journal.dispatch({ event: 'first_progress', turn: turn.number }, spent);
      }
      state = { ...state, lastProgressAt: clock.monotonicMs(), heldAtProgressMs: state.heldMs };
      seen = now;
    }
    state = { ...state, diskOverBytes: (await watched.disk?.measure()) ?? 0 };
  }
}

/** Every process of the executor dies here, by the shim, or from outside when the shim cannot. */
async function killAll({ connection, executor, clock, patience }: TurnSetting): Promise<Dead | null> {
  const dead = await within(connection.killAll(), clock, patience.answerMs);
  if (dead === null || dead.remaining > 0) await executor.destroy();
  return dead;
}

function shimLimits({ limits, heldByShim }: Executor) {
  return {
    ...(heldByShim.memory && limits.memoryBytes !== null ? { memoryBytes: limits.memoryBytes } : {}),
    ...(heldByShim.pids && limits.pids !== null ? { pids: limits.pids } : {}),
  };
}

export function abortOf(signal: AbortSignal): 'cancelled' | 'interrupted' | null {
  if (!signal.aborted) return null;
  return signal.reason === 'cancelled' ? 'cancelled' : 'interrupted';
}

/** What a promise gives within a time, else null. */
export async function within<T>(
  promise: Promise<T>,
  clock: Clock,
  ms: number,
  signal?: AbortSignal,
): Promise<T | null> {
  const done = new AbortController();
  const either = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  try {
    return await Promise.race([promise, clock.sleep(ms, either).then(() => null)]);
  } finally {
    done.abort();
  }
}
