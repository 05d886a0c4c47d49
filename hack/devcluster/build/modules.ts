/**
 * The Go programs of the development cluster. Versions stand in go/<module>/go.mod alone; {version} is the one of
 * `versionOf` there.
 */
export interface GoModule {
  readonly name: string;
  /** The module whose version this is about. */
  readonly versionOf?: string;
  /** `-X` settings of the linker, so that the programs know their version. */
  readonly settings?: readonly string[];
  /** runc alone needs C, for libseccomp. */
  readonly cgo?: true;
  readonly tags?: string;
  readonly programs: readonly GoProgram[];
}

interface GoProgram {
  readonly file: string;
  readonly package: string;
  /** Further names that the program is called through and looks at. */
  readonly links?: readonly string[];
}

const CONTAINERD = 'github.com/containerd/containerd/v2';
const CNI = 'github.com/containernetworking/plugins';

/** Small ones that a test server needs come first. */
export const GO_MODULES = [
  {
    name: 'etcd',
    programs: [{ file: 'etcd', package: 'go.etcd.io/etcd/server/v3' }],
  },
  {
    name: 'kubernetes',
    versionOf: 'k8s.io/kubernetes',
    settings: [
      'k8s.io/component-base/version.gitVersion={version}',
      'k8s.io/client-go/pkg/version.gitVersion={version}',
      'k8s.io/component-base/version.gitMajor=1',
      'k8s.io/component-base/version.gitMinor=36',
    ],
    programs: [
      {
        file: 'kubernetes',
        package: '.',
        links: [
          'kube-apiserver',
          'kube-controller-manager',
          'kube-scheduler',
          'kubelet',
          'kube-proxy',
          'kubectl',
        ],
      },
    ],
  },
  {
    name: 'containerd',
    versionOf: CONTAINERD,
    settings: [`${CONTAINERD}/version.Version={version}`],
    programs: [
      { file: 'containerd', package: `${CONTAINERD}/cmd/containerd` },
      { file: 'containerd-shim-runc-v2', package: `${CONTAINERD}/cmd/containerd-shim-runc-v2` },
      { file: 'ctr', package: `${CONTAINERD}/cmd/ctr` },
    ],
  },
  {
    name: 'cni',
    programs: [
      { file: 'host-local', package: `${CNI}/plugins/ipam/host-local` },
      { file: 'bridge', package: `${CNI}/plugins/main/bridge` },
      { file: 'loopback', package: `${CNI}/plugins/main/loopback` },
      { file: 'portmap', package: `${CNI}/plugins/meta/portmap` },
    ],
  },
  { name: 'pause', programs: [{ file: 'pause', package: '.' }] },
  {
    name: 'runc',
    cgo: true,
    tags: 'seccomp',
    programs: [{ file: 'runc', package: 'github.com/opencontainers/runc' }],
  },
  {
    name: 'helm',
    versionOf: 'helm.sh/helm/v4',
    settings: ['helm.sh/helm/v4/internal/version.version={version}'],
    programs: [{ file: 'helm', package: 'helm.sh/helm/v4/cmd/helm' }],
  },
  {
    name: 'kube-router',
    programs: [{ file: 'kube-router', package: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router' }],
  },
  { name: 'coredns', programs: [{ file: 'coredns', package: '.' }] },
  {
    name: 'local-path',
    versionOf: 'github.com/rancher/local-path-provisioner',
    settings: ['main.VERSION={version}'],
    programs: [{ file: 'local-path-provisioner', package: 'github.com/rancher/local-path-provisioner' }],
  },
  {
    name: 'crictl',
    versionOf: 'sigs.k8s.io/cri-tools',
    settings: ['sigs.k8s.io/cri-tools/pkg/version.Version={version}'],
    programs: [{ file: 'crictl', package: 'sigs.k8s.io/cri-tools/cmd/crictl' }],
  },
  {
    name: 'kwok',
    programs: [{ file: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' }],
  },
] as const satisfies readonly GoModule[];

export type ModuleName = (typeof GO_MODULES)[number]['name'];

/** What a real API server without nodes needs. */
export const API_SERVER_MODULES: readonly ModuleName[] = ['etcd', 'kubernetes'];

/** What a node needs; kwok is for scale tests only, which ask for it. */
export const CLUSTER_MODULES: readonly ModuleName[] = GO_MODULES.map(({ name }) => name).filter(
  (name) => name !== 'kwok',
);
