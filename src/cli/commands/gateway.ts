import type { Command } from 'commander';
import { gatewayRequestSchema } from '../../api/container-requests.ts';
import { InvalidInputError, messageOf } from '../../api/errors.ts';
import { ENV, PORTS } from '../../api/pod-contract.ts';
import { startGateway } from '../../gateway/server.ts';
import { readRequest } from '../../pods/request.ts';
import { portNumber } from '../option-parsers.ts';
import { takeSecret } from '../take-secret.ts';

/** Time that open calls are given when the gateway is told to end; a pod has 30 s by default. */
const DRAIN_MS = 25_000;

interface GatewayFlags {
  readonly host: string;
  readonly modelPort: number;
  readonly controlPort: number;
  readonly metricsPort: number;
  readonly healthPort: number;
}

/** `clawbench gateway`: the model gateway of a run in a cluster, told by its environment what to do. */
export function registerGatewayCommand(program: Command): void {
  program
    .command('gateway', { hidden: true })
    .description("inside the cluster: a run's model gateway")
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .option('--model-port <port>', 'model calls', portNumber, PORTS.gatewayModel)
    .option('--control-port <port>', "the controller's calls", portNumber, PORTS.gatewayControl)
    .option('--metrics-port <port>', 'metrics', portNumber, PORTS.metrics)
    .option('--health-port <port>', "a kubelet's probes", portNumber, PORTS.health)
    .action((flags: GatewayFlags) => serve(flags));
}

async function serve({ host, ...flags }: GatewayFlags): Promise<void> {
  const { model, journalDir, runName } = readRequest(gatewayRequestSchema, process.env);
  const secret = takeSecret(ENV.GATEWAY_SECRET);
  if (secret === null) {
    throw new InvalidInputError({ field: ENV.GATEWAY_SECRET, message: 'the variable is not set' });
  }
  // What this makes is for the group that shares the volume.
  process.umask(0o007);
  const gateway = await startGateway({
    model,
    secret,
    apiKey: takeSecret(ENV.API_KEY),
    journalDir,
    host,
    ports: {
      model: flags.modelPort,
      control: flags.controlPort,
      metrics: flags.metricsPort,
      health: flags.healthPort,
    },
    onNote: (note) => log('info', note),
    onFault: (error) => log('error', messageOf(error)),
  });
  const { ports } = gateway;
  log('info', `gateway of ${runName} listens`, ports);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  // Said when the ports are closed: whoever reads it finds no port that still takes a call and then resets it.
  const drained = gateway.drain(DRAIN_MS);
  log('info', 'ending: open calls are given time');
  await drained;
  log('info', 'ended');
}

/** One JSON object a line on standard error, as collectors of logs want it. */
function log(level: 'info' | 'error', message: string, facts: object = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`);
}
