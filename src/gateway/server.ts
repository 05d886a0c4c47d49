import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { ModelSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import { Accounts } from './accounts.ts';
import type { ModelBackend } from './backend.ts';
import { scriptedModelProblems, scriptedModelSchema } from './backends/scripted-parameters.ts';
import { scriptedBackend } from './backends/scripted.ts';
import { CallService, type Preflight } from './call-service.ts';
import { type GatewayClock, systemGatewayClock } from './clock.ts';
import { answerHealth, controlServer } from './control-server.ts';
import { listen, sendJson, type Listener } from './http.ts';
import { GatewayJournal } from './journal.ts';
import { GatewayMetrics } from './metrics.ts';
import { modelServer } from './model-server.ts';
import { formatOf } from './wire/formats.ts';

/** Name of the journal in the run's gateway folder. */
export const JOURNAL_FILE = 'journal.jsonl';
const PREFLIGHT_MS = 60_000;

export interface GatewayOptions {
  readonly model: ModelSpec;
  /** What tokens are signed with. */
  readonly secret: string;
  /** Key of the provider; null where it wants none. */
  readonly apiKey: string | null;
  readonly journalDir: string;
  readonly host: string;
  /** 0: any free one; null: not opened, because nobody would ask there. */
  readonly ports: {
    readonly model: number;
    readonly control: number | null;
    readonly metrics: number | null;
    /** Probes of a kubelet; they are answered on control and metrics too. */
    readonly health: number | null;
  };
  /** Told what people who look after the gateway should know. Never a key or token. */
  readonly onNote: (note: string) => void;
  readonly onFault: (error: unknown) => void;
  readonly clock?: GatewayClock;
}

export interface Gateway {
  readonly ports: GatewayOptions['ports'];
  /** Asks the model one question. */
  readonly preflight: () => Promise<Preflight>;
  /** Later calls of the attempt are refused. */
  readonly endAttempt: (trial: string, attempt: number) => Promise<void>;
  /** Takes no further calls, gives those that are open `ms` to end, and closes everything. */
  readonly drain: (ms: number) => Promise<void>;
}

/** What is wrong with a model, or not possible in this build; fields begin with `spec.model`. */
export function modelProblems(model: ModelSpec): readonly InputProblem[] {
  const { api, budget, attemptLimits, cassette } = model;
  const problems: InputProblem[] = [];
  if (api === 'scripted') problems.push(...scriptedModelProblems(model));
  else {
    problems.push({
      field: 'spec.model.api',
      message: `this build's gateway has no way to a provider of ${api} yet`,
      remedy: 'Use api scripted.',
    });
  }
  const unheld: readonly (readonly [string, boolean])[] = [
    ['budget', budget !== undefined],
    ['attemptLimits', attemptLimits !== undefined],
    ['cassette', cassette !== undefined && cassette.mode !== 'off'],
  ];
  for (const [field, given] of unheld) {
    if (!given) continue;
    problems.push({
      field: `spec.model.${field}`,
      message: "this build's gateway cannot hold it yet",
      remedy: 'Remove the field.',
    });
  }
  return problems;
}

/**
 * Starts the gateway of a run: reads its journal, then listens.
 *
 * @throws InvalidInputError when the model cannot be had; InfrastructureError `JournalUnavailable`; system errors of
 * ports
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { model, secret, host, ports, onFault, onNote, clock = systemGatewayClock } = options;
  const [first, ...rest] = modelProblems(model);
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);

  const { journal, entries, unreadable } = await GatewayJournal.open(join(options.journalDir, JOURNAL_FILE));
  if (unreadable > 0)
    onNote(`${unreadable} lines of the journal could not be read and are not accounted for`);
  const accounts = new Accounts(entries);
  if (entries.length > 0) onNote(`took up a journal of ${accounts.totals.calls} calls`);
  const metrics = new GatewayMetrics();
  const backend = backendOf(model, clock);
  const redact = redactor(options.apiKey);
  const service = new CallService({ model, backend, accounts, journal, metrics, clock, redact });
  const probeFormat = formatOf(model.api);

  const life = randomUUID();
  const listeners: Listener[] = [];
  const open = async <Port extends number | null>(handler: RequestListener, port: Port) => {
    if (port === null) return null as Port;
    const listener = await listen(handler, host, port);
    listeners.push(listener);
    return listener.port as Port;
  };
  const drain = async (ms: number): Promise<void> => {
    const stopped = listeners.map((listener) => listener.stop());
    await service.drain(ms);
    await Promise.all(stopped);
    await journal.close();
  };
  try {
    return {
      ports: {
        model: await open(modelServer({ service, secret, life, clock, metrics, onFault }), ports.model),
        control: await open(controlServer({ service, secret, probeFormat, clock, onFault }), ports.control),
        metrics: await open(metricsServer(service, metrics), ports.metrics),
        health: await open(healthServer(service), ports.health),
      },
      preflight: () => service.preflight(probeFormat, AbortSignal.timeout(PREFLIGHT_MS)),
      endAttempt: (trial, attempt) => service.endAttempt(trial, attempt),
      drain,
    };
  } catch (error) {
    await drain(0);
    throw error;
  }
}

function healthServer(service: CallService): RequestListener {
  return (request, response) => {
    if (!answerHealth(service, request, response)) {
      sendJson(request, response, 404, { error: { code: 'not_found' } });
    }
  };
}

function metricsServer(service: CallService, metrics: GatewayMetrics): RequestListener {
  return (request, response) => {
    if (answerHealth(service, request, response)) return;
    if (request.method === 'GET' && request.url === '/metrics') {
      const type = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
      sendJson(request, response, 200, metrics.text(service.queue), type);
    } else sendJson(request, response, 404, { error: { code: 'not_found' } });
  };
}

function redactor(key: string | null): (text: string) => string {
  return key === null || key === '' ? (text) => text : (text) => text.replaceAll(key, '[key]');
}

/** The way to a model, one module a kind of provider. */
function backendOf(model: ModelSpec, clock: GatewayClock): ModelBackend {
  return scriptedBackend(model.id, scriptedModelSchema.parse(model.parameters['scripted'] ?? {}), clock);
}
