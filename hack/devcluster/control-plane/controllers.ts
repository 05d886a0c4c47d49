import type { Authority } from '../pki/authority.ts';

/**
 * Arguments of a controller manager that is the only one. Nodes' pod ranges are given by whoever starts the nodes, so
 * that fake nodes of scale tests do not use them up.
 *
 * @param securePort where it serves its health and metrics; `0`: nowhere
 */
export function controllerManagerArguments(
  authority: Authority,
  kubeconfig: string,
  securePort: string,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    ...(securePort === '0'
      ? ['--secure-port=0']
      : [
          `--authentication-kubeconfig=${kubeconfig}`,
          `--authorization-kubeconfig=${kubeconfig}`,
          '--bind-address=127.0.0.1',
          `--secure-port=${securePort}`,
        ]),
    `--service-account-private-key-file=${authority.serviceAccountKeys.signing}`,
    `--root-ca-file=${authority.certificate}`,
    `--cluster-signing-cert-file=${authority.certificate}`,
    `--cluster-signing-key-file=${authority.key}`,
    '--use-service-account-credentials',
    '--allocate-node-cidrs=false',
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}

/** Arguments of a scheduler that is the only one, with limits above what one machine creates. */
export function schedulerArguments(kubeconfig: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    '--leader-elect=false',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}
