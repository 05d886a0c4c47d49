import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Programs } from '../build/go-build.ts';
import type { Authority } from '../pki/authority.ts';
import type { ProcessPlan } from '../system/processes.ts';
import { containerdSocket, DNS_ADDRESS, DNS_DOMAIN, POD_RANGE, type NodePlan } from './node-plan.ts';

/** Writes the kubelet's configuration. @returns how it is started */
export async function planKubelet(
  node: NodePlan,
  programs: Programs,
  authority: Authority,
  options: { readonly log: string; readonly kubeconfig: string },
): Promise<ProcessPlan> {
  const certificate = authority.files(node.name);
  const root = join(node.root, 'kubelet');
  await mkdir(root, { recursive: true });
  const config = join(node.root, 'kubelet.yaml');
  await writeFile(
    config,
    stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: authority.certificate },
      },
      authorization: { mode: 'Webhook' },
      tlsCertFile: certificate.certificate,
      tlsPrivateKeyFile: certificate.key,
      cgroupDriver: 'cgroupfs',
      // Below a group of the node's own: two kubelets would otherwise remove each other's pods' groups as left over.
      cgroupRoot: `/${node.cgroup}`,
      failCgroupV1: false,
      failSwapOn: false,
      containerRuntimeEndpoint: `unix://${containerdSocket(node)}`,
      clusterDNS: [DNS_ADDRESS],
      clusterDomain: DNS_DOMAIN,
      resolvConf: '/etc/resolv.conf',
      // A development machine's disk is often fuller than the default 85 % at which a kubelet removes images.
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1Gi', 'imagefs.available': '1Gi' },
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 99,
      podLogsDir: join(node.root, 'pod-logs'),
      volumePluginDir: join(node.root, 'volume-plugins'),
      maxPods: 250,
      registryPullQPS: 0,
      eventRecordQPS: 0,
      kubeAPIQPS: 200,
      kubeAPIBurst: 400,
      serializeImagePulls: false,
      logging: { verbosity: 2 },
    }),
  );
  return {
    name: `${node.name}-kubelet`,
    argv: [
      programs.path('kubernetes', 'kubelet'),
      `--kubeconfig=${options.kubeconfig}`,
      `--config=${config}`,
      `--hostname-override=${node.name}`,
      `--node-ip=${node.address}`,
      `--root-dir=${root}`,
      `--cert-dir=${join(node.root, 'kubelet-pki')}`,
    ],
    log: options.log,
  };
}

/** Writes kube-proxy's configuration. @returns how it is started */
export async function planKubeProxy(
  node: NodePlan,
  programs: Programs,
  options: { readonly log: string; readonly kubeconfig: string },
): Promise<ProcessPlan> {
  const config = join(node.root, 'kube-proxy.yaml');
  await writeFile(
    config,
    stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      hostnameOverride: node.name,
      clusterCIDR: POD_RANGE,
      clientConnection: { kubeconfig: options.kubeconfig },
      // The machine's own connection limits stay as they are.
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
      iptables: { minSyncPeriod: '100ms' },
    }),
  );
  return {
    name: `${node.name}-kube-proxy`,
    argv: [programs.path('kubernetes', 'kube-proxy'), `--config=${config}`],
    log: options.log,
  };
}

/** kube-router enforces NetworkPolicies and does nothing else. */
export function planKubeRouter(
  node: NodePlan,
  programs: Programs,
  serviceRange: string,
  options: { readonly log: string; readonly kubeconfig: string },
): ProcessPlan {
  return {
    name: `${node.name}-kube-router`,
    argv: [
      programs.path('kube-router', 'kube-router'),
      `--kubeconfig=${options.kubeconfig}`,
      '--run-firewall=true',
      '--run-router=false',
      '--run-service-proxy=false',
      '--run-loadbalancer=false',
      `--service-cluster-ip-range=${serviceRange}`,
      `--hostname-override=${node.name}`,
      '--health-port=0',
      '--metrics-port=0',
    ],
    log: options.log,
  };
}
