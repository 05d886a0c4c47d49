/** Everything that decides how a shim is started on one machine. Pure: tests compare the command that comes out. */
export interface LaunchPlan {
  readonly isolation: 'none' | 'uid' | 'container';
  /** Whether we are root; else a container is made with a user namespace. */
  readonly root: boolean;
  /** Whether setpriv is there; without it the shim itself gives up root. */
  readonly setpriv: boolean;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** The attempt's own folder, with workspace/ and tmp/. */
  readonly folder: string;
  /** Folder of node and shim, shared by the attempts of a run. */
  readonly program: string;
  readonly node: string;
  readonly shim: string;
  /** Existing folders that the agent must not see; hidden in a container only. */
  readonly hide: readonly string[];
  /** Folders that everybody can write to; in a container each attempt has its own. */
  readonly shared: readonly string[];
  /** cgroup.procs files to join. */
  readonly groups: readonly string[];
  /** No file may grow beyond this. */
  readonly fileBytes: number | null;
}

/** Folders of a machine that every user can write to, and that would carry files from one attempt to the next. */
export const SHARED_FOLDERS = ['/tmp', '/var/tmp'] as const;

/** The command that starts the shim. */
export function launchCommand(plan: LaunchPlan): readonly [string, ...string[]] {
  const script = ['set -eu', ...joinGroups(plan), ...bounds(plan), ...view(plan), enter(plan)].join('\n');
  if (plan.isolation !== 'container') return ['/bin/sh', '-c', script];
  const user = plan.root ? [] : ['--user', '--map-root-user'];
  return [
    'unshare',
    ...user,
    ...['--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--ipc', '--', '/bin/sh', '-c', script],
  ];
}

function joinGroups({ groups }: LaunchPlan): string[] {
  return groups.map((procs) => `echo 0 > ${quote(procs)}`);
}

function bounds({ fileBytes, root }: LaunchPlan): string[] {
  const lines = ['ulimit -c 0'];
  // In units of 512 bytes, as POSIX has it.
  if (fileBytes !== null) lines.push(`ulimit -f ${Math.ceil(fileBytes / 512)}`);
  // The kernel is to choose the agent before the shim when the group's memory is used up.
  if (root) lines.push('{ echo -500 > /proc/self/oom_score_adj; } 2>/dev/null || :');
  return lines;
}

/**
 * The agent's view of the machine: its own folders for temporary files, and nothing where something is hidden.
 * The attempt's folder may lie below one of these, so it is opened before and bound again afterwards.
 */
function view(plan: LaunchPlan): string[] {
  if (plan.isolation !== 'container') return [];
  const { folder, program } = plan;
  const below = (path: string, others: readonly string[]) =>
    others.some((other) => path.startsWith(`${other}/`));
  const shared = plan.shared.filter((path) => !below(path, plan.hide));
  const hide = [...new Set(plan.hide)].filter(
    (path) => !below(path, [...shared, ...plan.hide]) && !shared.includes(path),
  );
  return [
    `exec 7<${quote(`${folder}/tmp`)} 8<${quote(folder)} 9<${quote(program)}`,
    ...hide.map((path) => `mount -t tmpfs -o nosuid,nodev,mode=0755,size=64k clawbench ${quote(path)}`),
    ...shared.map((path) => `mount -c --bind /proc/self/fd/7 ${quote(path)}`),
    'mount -t tmpfs -o nosuid,nodev,mode=1777,size=64m clawbench /dev/shm',
    `mkdir -p ${quote(folder)} ${quote(program)}`,
    `mount -c --bind /proc/self/fd/8 ${quote(folder)}`,
    `mount -c --bind /proc/self/fd/9 ${quote(program)}`,
    `mount -o remount,bind,ro ${quote(program)}`,
    ...hide.map((path) => `mount -o remount,ro ${quote(path)}`),
    'exec 7<&- 8<&- 9<&-',
  ];
}

function enter(plan: LaunchPlan): string {
  const drop = plan.setpriv ? privileges(plan) : [];
  const command = [...drop, plan.node, '--no-warnings', plan.shim, 'serve'];
  return `cd ${quote(plan.folder)}\nexec ${command.map(quote).join(' ')}`;
}

function privileges({ user, isolation }: LaunchPlan): string[] {
  if (user === null && isolation !== 'container') return ['setpriv', '--no-new-privs'];
  const ids =
    user === null ? [] : ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'];
  // The kernel forgets --kill-child when the user changes, so the wish is repeated.
  return [
    'setpriv',
    ...ids,
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--pdeathsig',
    'KILL',
  ];
}

function quote(text: string): string {
  return /^[\w/.:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
