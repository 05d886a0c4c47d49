import type { Command } from 'commander';

/** Which cluster, and where in it; the same for every command against one. */
export interface ClusterFlags {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
}

/** Adds --namespace, --context and --kubeconfig. */
export function addClusterOptions(command: Command): Command {
  return command
    .option('-n, --namespace <name>', "namespace of the run (default: the context's)")
    .option('--context <name>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig (default: $KUBECONFIG, ~/.kube/config)');
}

/** The flags as somebody would type them again, so that a command can be copied from a message. */
export function flagsText({ namespace, context, kubeconfig }: ClusterFlags): string {
  return [
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
    ...(context === undefined ? [] : [`--context ${context}`]),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${kubeconfig}`]),
  ]
    .map((text) => ` ${text}`)
    .join('');
}
