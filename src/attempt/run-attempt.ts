import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptResult, Completion } from '../api/attempt.ts';
import { messageOf } from '../api/errors.ts';
import { attemptLayout } from '../api/run-layout.ts';
import { createAttemptDir, writeResultOnce } from '../artifacts/attempt-dir.ts';
import { takeBaseline, type Baseline } from '../artifacts/baseline.ts';
import { sha256 } from '../files/digest.ts';
import type { AttemptContext } from '../runtimes/adapter.ts';
import type { AttemptRequest } from './attempt-request.ts';
import { buildMeta, buildResult, type Course } from './attempt-result.ts';
import { type Clock, systemClock } from '../api/clock.ts';
import {
  collectAgentFiles,
  keepNativeFiles,
  NO_SESSION,
  writeRecords,
  type CollectedWorkspace,
} from './collect.ts';
import { completionGate } from './completion-gate.ts';
import type { Executor, ExecutorFacts } from './executor.ts';
import { agentEnvironment } from './environment.ts';
import { faultOf, Journal } from './journal.ts';
import { accountedCalls, confirmProviderErrors } from './model-access.ts';
import { OutputLog } from './output-log.ts';
import { firstMessage } from './prompt.ts';
import { abortOf, DEFAULT_PATIENCE, runTurn, type TurnRecord, type TurnSetting } from './run-turn.ts';
import { runSuiteScript } from './suite-script.ts';
import type { ShimConnection } from './shim/connection.ts';
import { stageFolder, stagePrograms } from './stage.ts';
import { turnBound } from './watch.ts';

/**
 * Runs one attempt from staging to result.json. Whatever agent, shim or machine do becomes an observation in the
 * result; nothing is judged here (src/attempt/failure-class.ts does).
 *
 * @throws InfrastructureError `AttemptTaken` when the attempt directory belongs to another attempt. All other
 * faults are observed, also those of the disk that keeps the attempt: then the result is returned and may not be
 * stored
 */
export async function runAttempt(request: AttemptRequest, executor: Executor): Promise<AttemptResult> {
  await createAttemptDir(request.attemptDir);
  return new Attempt(request, executor).run();
}

class Attempt {
  private readonly request: AttemptRequest;
  private readonly executor: Executor;
  private readonly clock: Clock;
  private readonly signal: AbortSignal;
  private readonly journal: Journal;
  private readonly layout: ReturnType<typeof attemptLayout>;
  private readonly context: AttemptContext;
  private readonly startedAt: Date;
  private readonly startedMs: number;
  private connection: ShimConnection | null = null;
  private factsAtStart: ExecutorFacts = { oomKills: null, pidsRefused: null };
  private firstTurnAt: number | null = null;
  private promptSha256 = '';
  private readonly course: Course;

  constructor(request: AttemptRequest, executor: Executor) {
    this.request = request;
    this.executor = executor;
    this.clock = request.clock ?? systemClock;
    this.signal = request.signal ?? new AbortController().signal;
    this.journal = new Journal(this.clock, request.onStep);
    this.layout = attemptLayout(request.attemptDir);
    this.startedAt = this.clock.date();
    this.startedMs = this.clock.monotonicMs();
    const { trial, attempt, scenario, runtime, modelEndpoint, modelId, scriptedDir } = request;
    const { paths } = executor;
    this.context = { trial, attempt, scenario, runtime, paths, modelEndpoint, modelId, scriptedDir };
    this.course = {
      turns: 0,
      last: null,
      killReason: null,
      oomKills: 0,
      session: NO_SESSION,
      continuations: [],
      processes: [],
      probedAt: this.startedAt.toISOString(),
    };
  }

  async run(): Promise<AttemptResult> {
    const { journal, course } = this;
    const message = await this.stage();
    const ready = message !== null && (await this.connect()) && (await this.setUp());
    const baseline = ready
      ? await this.attempt('staging_failed', () => takeBaseline(this.executor.paths.workspace))
      : null;
    if (message !== null && baseline !== null) await this.runTurns(message);
    else await this.executor.destroy();

    if (baseline === null) return this.finish(null, null);
    const collected = await this.collect(baseline);
    if (collected?.workspace.status === 'source_missing') journal.observe({ kind: 'workspace_missing' });
    this.noteSession();
    await this.tearDown();
    this.connection?.end();
    return this.finish(collected, completionGate(course.session, this.request.adapter.completesWith));
  }

  /** Lays out what the agent will find. @returns the first message, or null when it failed */
  private async stage(): Promise<string | null> {
    const { publicDir, scenario } = this.request;
    const { paths, owner } = this.executor;
    return this.attempt('staging_failed', () =>
      this.journal.step('container_lifecycle', 'stage', async () => {
        await mkdir(this.layout.logs, { recursive: true });
        const prompt = await readFile(join(publicDir, 'prompt.md'), 'utf8');
        const message = firstMessage(scenario.format, prompt);
        this.promptSha256 = sha256(message);
        await writeFile(this.layout.promptMd, message);
        await stageFolder(join(publicDir, 'workspace'), paths.workspace, owner);
        if (scenario.skills.length > 0) {
          await stageFolder(join(publicDir, 'skills'), join(paths.home, 'skills'), owner);
        }
        this.journal.dispatch({ event: 'staged' });
        return message;
      }),
    );
  }

  private async connect(): Promise<boolean> {
    if (this.noteAbort()) return false;
    try {
      this.connection = await this.journal.step('container_lifecycle', 'connect', () =>
        this.executor.connect(this.request.timeouts.start * 1000, this.signal),
      );
      this.journal.dispatch({ event: 'shim_connected' });
      this.factsAtStart = await this.executor.facts();
      return true;
    } catch (error) {
      if (!this.noteAbort()) this.journal.observe({ kind: 'shim_missing', message: messageOf(error) });
      return false;
    }
  }

  /** Runs the scenario's set-up script and writes the runtime's files, as the agent's user, before the agent. */
  private async setUp(): Promise<boolean> {
    const { adapter, scenario } = this.request;
    const { connection } = this;
    if (connection === null) return false;
    if (scenario.setupScript !== null) {
      const problem = await this.runScript('setup', scenario.setupScript);
      if (this.noteAbort()) return false;
      if (problem !== null) {
        this.journal.observe({ kind: 'setup_failed', message: problem });
        return false;
      }
    }
    try {
      const files = await adapter.prepare(this.context);
      connection.writeFiles(await stagePrograms(this.executor.paths.program, files));
      return true;
    } catch (error) {
      this.journal.observe({ kind: 'staging_failed', message: messageOf(error) });
      return false;
    }
  }

  private async runTurns(first: string): Promise<void> {
    const { course, journal, request } = this;
    let message: string | null = first;
    while (message !== null && !this.noteAbort()) {
      course.turns += 1;
      const record = await journal.step(
        'executor',
        `turn ${course.turns}`,
        () => this.turn(course.turns, message ?? ''),
        course.turns,
      );
      course.last = record;
      if (record !== null) await this.noteEnd(record);
      if (record?.end.kind !== 'exit' || record.killReason !== null) break;
      if (request.nextMessage === undefined) break;
      await this.readSession();
      message = await this.continueWith(request.nextMessage);
    }
    await this.readSession();
  }

  /** @returns null when the adapter could not make a turn of the message */
  private async turn(number: number, message: string): Promise<TurnRecord | null> {
    const { adapter, timeouts } = this.request;
    const setting = this.setting();
    if (setting === null) return null;
    const timeoutSeconds = turnBound(timeouts.turn, timeouts.total, this.journal.runtimeMs);
    let command, liveness;
    try {
      command = adapter.turn(this.context, { turn: number, message, timeoutSeconds });
      liveness = adapter.liveness(this.context);
    } catch (error) {
      this.journal.observe({ kind: 'adapter_error', message: messageOf(error) });
      await this.executor.destroy();
      return null;
    }
    const log = await OutputLog.open(this.layout.logs, `turn_${String(number).padStart(2, '0')}`);
    const record = await runTurn(setting, {
      number,
      argv: command.argv,
      env: agentEnvironment(this.executor.baseEnv, command.env, this.request.runtime.env),
      cwd: command.cwd,
      files: command.files,
      liveness,
      firstStartedAt: this.firstTurnAt,
      log,
    });
    this.firstTurnAt ??= record.startedAt;
    await log.close();
    return record;
  }

  private async noteEnd(record: TurnRecord): Promise<void> {
    const { journal, course } = this;
    const { end, leftovers } = record;
    const facts = await this.executor.facts();
    course.killReason = record.killReason;
    // Counted where the agent cannot reach, if anything counts there.
    const counted = difference(facts.oomKills, this.factsAtStart.oomKills);
    let oomKills = counted ?? 0;
    switch (end.kind) {
      case 'exit':
        journal.observe({ kind: 'agent_exit', code: end.code, signal: end.signal });
        if (counted === null) oomKills = Math.max(end.oomKills, end.limit === 'memory' ? 1 : 0);
        if (end.limit === 'pids') journal.observe({ kind: 'agent_pids_limit' });
        break;
      case 'failed':
        journal.observe({ kind: 'spawn_failed', message: end.message });
        break;
      case 'lost':
        journal.observe({ kind: 'shim_lost', message: end.message });
        break;
    }
    if (oomKills > 0) journal.observe({ kind: 'agent_oom', oomKills });
    course.oomKills += oomKills;
    if ((difference(facts.pidsRefused, this.factsAtStart.pidsRefused) ?? 0) > 0) {
      journal.observe({ kind: 'agent_pids_limit' });
    }
    this.factsAtStart = facts;
    if (leftovers !== null && leftovers.count > 0) {
      const commands = [...new Set(leftovers.processes.map(({ command }) => command))];
      journal.observe({ kind: 'leftover_processes', count: leftovers.count, commands });
    }
    course.processes = leftovers?.processes ?? [];
    course.probedAt = this.clock.date().toISOString();
  }

  private async readSession(): Promise<void> {
    if (this.course.last === null) return;
    try {
      this.course.session = await this.request.adapter.readSession(this.context);
    } catch (error) {
      this.course.session = NO_SESSION;
      this.journal.observe({ kind: 'adapter_error', message: messageOf(error) });
    }
  }

  private async continueWith(
    nextMessage: NonNullable<AttemptRequest['nextMessage']>,
  ): Promise<string | null> {
    const turn = this.course.turns + 1;
    try {
      const message = await this.journal.step('supervision', `after turn ${this.course.turns}`, () =>
        nextMessage(this.course.session, this.course.turns),
      );
      if (message === null) return null;
      const file = this.layout.continuationMd(turn);
      await writeFile(file, message);
      this.course.continuations.push({
        turn,
        file: file.slice(this.layout.root.length + 1),
        sha256: sha256(message),
      });
      return message;
    } catch (error) {
      this.journal.observe({ kind: 'staging_failed', ...faultOf(error) });
      return null;
    }
  }

  private async collect(baseline: Baseline): Promise<CollectedWorkspace | null> {
    this.journal.dispatch({ event: 'collecting' });
    const { timeouts, collectUntil } = this.request;
    const bound = AbortSignal.timeout(timeouts.collect * 1000);
    const deadline = collectUntil === undefined ? bound : AbortSignal.any([bound, collectUntil]);
    const collected = await this.attempt('collection_failed', () =>
      this.journal.step('artifact', 'collect', async () => {
        const { format } = this.request.scenario;
        const trees = await collectAgentFiles(
          this.executor,
          this.request.attemptDir,
          format,
          baseline,
          deadline,
        );
        const problems = await keepNativeFiles(this.executor, this.layout, this.course.session.nativeFiles);
        if (problems.length > 0) await writeFile(join(this.layout.logs, 'native.log'), problems.join('\n'));
        return trees;
      }),
    );
    this.journal.dispatch({ event: 'collected', complete: collected !== null });
    return collected;
  }

  private noteSession(): void {
    const { session, last, killReason } = this.course;
    const { modelAccess, adapter } = this.request;
    const inOrder =
      last?.end.kind === 'exit' &&
      last.end.code === 0 &&
      killReason === null &&
      completionGate(session, adapter.completesWith).completed;
    const observations =
      modelAccess === undefined
        ? session.observations
        : confirmProviderErrors(session.observations, modelAccess.calls(), inOrder);
    for (const observation of observations) this.journal.observe(observation);
    if (last !== null && last.end.kind !== 'failed' && (session.events.length === 0 || session.placeholder)) {
      this.journal.observe({ kind: 'transcript_missing', placeholder: session.placeholder });
    }
  }

  /** After everything was collected: what it does to the workspace counts for nothing, and neither does its end. */
  private async tearDown(): Promise<void> {
    const { teardownScript } = this.request.scenario;
    if (teardownScript !== null && this.connection?.isLost === false)
      await this.runScript('teardown', teardownScript);
  }

  private async runScript(name: string, script: string): Promise<string | null> {
    const setting = this.setting();
    if (setting === null) return 'there is no shim';
    return this.journal.step('container_lifecycle', name, () =>
      runSuiteScript(
        setting,
        script,
        agentEnvironment(this.executor.baseEnv, {}, {}),
        this.layout.logs,
        name,
      ),
    );
  }

  private setting(): TurnSetting | null {
    if (this.connection === null) return null;
    return {
      executor: this.executor,
      connection: this.connection,
      journal: this.journal,
      clock: this.clock,
      timeouts: this.request.timeouts,
      signal: this.signal,
      heldMs: this.request.modelAccess?.heldMs ?? (() => 0),
      patience: this.request.patience ?? DEFAULT_PATIENCE,
    };
  }

  /** Whether the attempt's end was asked for; recorded once. */
  private noteAbort(): boolean {
    const reason = abortOf(this.signal);
    if (reason === null) return false;
    const message = `the attempt was ${reason} between two steps`;
    if (!this.journal.observations.some(({ kind }) => kind === 'interrupted' || kind === 'killed')) {
      this.journal.observe({ kind: 'interrupted', message });
      this.course.killReason = reason;
    }
    return true;
  }

  /** Writes the records and, last, result.json. */
  private async finish(
    collected: CollectedWorkspace | null,
    gate: Completion | null,
  ): Promise<AttemptResult> {
    const { adapter, attemptDir } = this.request;
    const completion = gate ?? completionGate(NO_SESSION, adapter.completesWith);
    const facts = () => ({
      startedAt: this.startedAt,
      endedAt: this.clock.date(),
      wallClockMs: this.clock.monotonicMs() - this.startedMs,
      promptSha256: this.promptSha256,
      completion,
      isolation: this.executor.isolation,
      nodeVersion: this.connection?.hello.version ?? process.version,
      workspaceDigest: collected?.workspace.digest ?? null,
    });
    const meta = buildMeta(this.request, this.journal, this.course, facts());
    let manifestDigest: string | null = null;
    if (collected !== null) {
      manifestDigest = await this.attempt('collection_failed', async () =>
        writeRecords(this.layout, this.journal, {
          session: this.course.session,
          modelCalls: await accountedCalls(this.request.modelAccess, this.layout.logs),
          adapterVersion: adapter.version,
          meta,
          processes: this.course.processes,
          collected,
          probedAt: this.course.probedAt,
        }),
      );
    } else {
      // There is nothing to grade; how it came to that is worth keeping where the disk lets us.
      await writeFile(this.layout.metaJson, JSON.stringify(meta, null, 2)).catch(() => undefined);
    }
    const result = buildResult(this.request, this.journal, this.course, { ...facts(), manifestDigest });
    try {
      await writeResultOnce(attemptDir, result);
      return result;
    } catch (error) {
      const fault = { kind: 'collection_failed' as const, ...faultOf(error) };
      return { ...result, collected: false, observations: [...result.observations, fault] };
    }
  }

  /** Does something that may fail for the machine's fault, which is then observed. @returns null when it failed */
  private async attempt<T>(
    kind: 'staging_failed' | 'collection_failed',
    action: () => Promise<T>,
  ): Promise<T | null> {
    try {
      return await action();
    } catch (error) {
      this.journal.observe({ kind, ...faultOf(error) });
      return null;
    }
  }
}

function difference(now: number | null, before: number | null): number | null {
  return now === null ? null : now - (before ?? 0);
}
