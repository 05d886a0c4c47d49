import { describe, expect, it } from 'vitest';
import { launchCommand, type LaunchPlan } from '../../../src/local/executor/launch-plan.ts';

const plan: LaunchPlan = {
  isolation: 'container',
  root: true,
  setpriv: true,
  user: { uid: 60_700, gid: 60_700 },
  folder: '/tmp/run/one',
  program: '/tmp/run/program',
  node: '/tmp/run/program/node',
  shim: '/tmp/run/program/shim.mjs',
  hide: ['/home/me/results', '/home/me/check out'],
  shared: ['/tmp', '/var/tmp'],
  groups: ['/sys/fs/cgroup/memory/x/cgroup.procs'],
  fileBytes: 1000,
};
const script = (own: Partial<LaunchPlan> = {}) =>
  launchCommand({ ...plan, ...own })
    .at(-1)
    ?.split('\n') ?? [];

describe('command that starts a shim', () => {
  it('makes namespaces, and one for users only where we are not root', () => {
    expect(launchCommand(plan).slice(0, 2)).toEqual(['unshare', '--pid']);
    expect(launchCommand({ ...plan, root: false, user: null }).slice(0, 4)).toEqual([
      'unshare',
      '--user',
      '--map-root-user',
      '--pid',
    ]);
    expect(launchCommand({ ...plan, isolation: 'uid' }).slice(0, 2)).toEqual(['/bin/sh', '-c']);
  });

  it('joins the groups before it does anything else', () => {
    expect(script().slice(0, 2)).toEqual(['set -eu', 'echo 0 > /sys/fs/cgroup/memory/x/cgroup.procs']);
  });

  it('hides what is to be hidden before it gives the privileges away', () => {
    const lines = script();
    const hidden = lines.findIndex((line) => line.endsWith("'/home/me/check out'"));
    const left = lines.findIndex((line) => line.startsWith('exec setpriv'));
    expect(hidden).toBeGreaterThan(0);
    expect(left).toBe(lines.length - 1);
    expect(lines[left]).toContain('--reuid 60700 --regid 60700 --clear-groups --no-new-privs');
    expect(lines[left]).toContain('--bounding-set=-all');
  });

  it('brings the attempt back where a hidden or shared folder covers it', () => {
    const lines = script({ hide: ['/tmp/run', '/tmp'] });
    expect(lines.filter((line) => line.includes('-t tmpfs'))).toHaveLength(1); // /dev/shm: the rest is covered
    expect(
      lines.findIndex((line) => line === 'mount -c --bind /proc/self/fd/8 /tmp/run/one'),
    ).toBeGreaterThan(lines.findIndex((line) => line === 'mount -c --bind /proc/self/fd/7 /tmp'));
  });

  it('does not look for a shared folder inside a hidden one', () => {
    const lines = script({ hide: ['/var'] }).filter((line) => line.includes('/var'));
    expect(lines.filter((line) => line.includes('/var/tmp'))).toEqual([]);
    expect(lines).toHaveLength(2); // hidden, and then closed for writing
  });

  it('hides nothing and mounts nothing outside a container', () => {
    expect(script({ isolation: 'uid' }).join('\n')).not.toContain('mount');
    expect(script({ isolation: 'none', user: null }).at(-1)).toBe(
      'exec setpriv --no-new-privs /tmp/run/program/node --no-warnings /tmp/run/program/shim.mjs serve',
    );
  });

  it('leaves it to the shim to change the user where there is no setpriv', () => {
    expect(script({ isolation: 'uid', setpriv: false }).at(-1)).toBe(
      'exec /tmp/run/program/node --no-warnings /tmp/run/program/shim.mjs serve',
    );
  });

  it('quotes what a shell would take apart', () => {
    expect(script({ folder: "/tmp/it's $HOME" }).at(-2)).toBe("cd '/tmp/it'\\''s $HOME'");
  });

  it('bounds single files in blocks of 512 bytes', () => {
    expect(script()).toContain('ulimit -f 2');
    expect(script({ fileBytes: null }).join('\n')).not.toContain('ulimit -f');
  });
});
