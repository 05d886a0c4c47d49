import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from '../build/go-build.ts';
import type { ProcessPlan } from '../system/processes.ts';
import { containerdSocket, type NodePlan } from './node-plan.ts';

export const PAUSE_IMAGE = 'localhost/devcluster-pause:1';

/** Writes containerd's and the network plugins' configuration. @returns how containerd is started */
export async function planContainerd(
  node: NodePlan,
  programs: Programs,
  options: { readonly log: string; readonly mayLowerOomScore: boolean },
): Promise<ProcessPlan> {
  const network = join(node.root, 'cni');
  await mkdir(network, { recursive: true });
  await mkdir(node.run, { recursive: true });
  await writeFile(join(network, '10-bridge.conflist'), JSON.stringify(networkConfig(node), null, 2));
  const config = join(node.root, 'containerd.toml');
  await writeFile(config, containerdConfig(node, programs, network, options.mayLowerOomScore));
  return {
    name: `${node.name}-containerd`,
    argv: [programs.path('containerd', 'containerd'), '--config', config],
    // It looks for the shim and runc on its path.
    env: {
      PATH: [programs.folder('containerd'), programs.folder('runc'), process.env['PATH'] ?? ''].join(':'),
    },
    log: options.log,
  };
}

function networkConfig(node: NodePlan): object {
  return {
    cniVersion: '1.0.0',
    name: 'clawbench-devcluster',
    plugins: [
      {
        type: 'bridge',
        bridge: node.bridge,
        isGateway: true,
        // Done once for all nodes: a pod's address must stay its own on the way to another node's pods.
        ipMasq: false,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: node.podRange }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: join(node.root, 'cni-addresses'),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

/** A TOML basic string: the escapes of JSON are among its own. */
function quote(text: string): string {
  return JSON.stringify(text);
}

function containerdConfig(
  at: NodePlan,
  built: Programs,
  networkFolder: string,
  mayLowerOomScore: boolean,
): string {
  return `version = 3
root = ${quote(join(at.root, 'containerd'))}
state = ${quote(join(at.run, 'containerd'))}
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
address = ${quote(containerdSocket(at))}

[ttrpc]
address = ${quote(`${containerdSocket(at)}.ttrpc`)}

[plugins."io.containerd.internal.v1.opt"]
path = ${quote(join(at.root, 'opt'))}

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = ${quote(PAUSE_IMAGE)}

[plugins."io.containerd.cri.v1.runtime"]
# Without CAP_SYS_RESOURCE no score can be lowered, and every sandbox would fail.
restrict_oom_score_adj = ${String(!mayLowerOomScore)}
# So that nothing is mounted outside of this node's folders.
netns_mounts_under_state_dir = true

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = [${quote(built.folder('cni'))}]
conf_dir = ${quote(networkFolder)}
`;
}
