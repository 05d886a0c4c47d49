import type { Command } from 'commander';
import { gatewayRequestSchema, type GatewayRequest } from '../../api/container-requests.ts';
import { InvalidInputError, messageOf } from '../../api/errors.ts';
import { ENV, PORTS } from '../../api/pod-contract.ts';
import { startGateway } from '../../gateway/server.ts';
import { portNumber } from '../option-parsers.ts';

/** Time that open calls are given when the gateway is told to end; a pod has 30 s by default. */
const DRAIN_MS = 25_000;

interface GatewayFlags {
  readonly host: string;
  readonly modelPort: number;
  readonly controlPort: number;
  readonly metricsPort: number;
}

/** `clawbench gateway`: the model gateway of a run in a cluster, told by its environment what to do. */
export function registerGatewayCommand(program: Command): void {
  program
    .command('gateway', { hidden: true })
    .description("inside the cluster: a run's model gateway")
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .option('--model-port <port>', 'model calls', portNumber, PORTS.gatewayModel)
    .option('--control-port <port>', "the controller's calls and probes", portNumber, PORTS.gatewayControl)
    .option('--metrics-port <port>', 'metrics and probes', portNumber, PORTS.metrics)
    .action((flags: GatewayFlags) => serve(flags));
}

async function serve({ host, modelPort, controlPort, metricsPort }: GatewayFlags): Promise<void> {
  const { model, journalDir, runName } = readRequest();
  const secret = take(ENV.GATEWAY_SECRET);
  if (secret === undefined) {
    throw new InvalidInputError({ field: ENV.GATEWAY_SECRET, message: 'the variable is not set' });
  }
  // What this makes is for the group that shares the volume.
  process.umask(0o007);
  const gateway = await startGateway({
    model,
    secret,
    apiKey: take(ENV.API_KEY) ?? null,
    journalDir,
    host,
    ports: { model: modelPort, control: controlPort, metrics: metricsPort },
    onNote: (note) => log('info', note),
    onFault: (error) => log('error', messageOf(error)),
  });
  const { ports } = gateway;
  log('info', `gateway of ${runName} listens`, ports);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  log('info', 'ending: open calls are given time');
  await gateway.drain(DRAIN_MS);
  log('info', 'ended');
}

/** Reads a secret and takes it out of the environment, which child processes would inherit. */
function take(name: string): string | undefined {
  const value = process.env[name];
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- setting it to undefined would set a text
  delete process.env[name];
  return value === '' ? undefined : value;
}

function readRequest(): GatewayRequest {
  const text = process.env[ENV.REQUEST];
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch (error) {
    throw new InvalidInputError({ field: ENV.REQUEST, message: `is not JSON (${messageOf(error)})` });
  }
  const parsed = gatewayRequestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...rest] = parsed.error.issues.map((issue) => ({
    field: [ENV.REQUEST, ...issue.path].join('.'),
    message: issue.message,
  }));
  throw new InvalidInputError(
    first === undefined ? { field: ENV.REQUEST, message: 'is invalid' } : [first, ...rest],
  );
}

/** One JSON object a line on standard error, as collectors of logs want it. */
function log(level: 'info' | 'error', message: string, facts: object = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`);
}
