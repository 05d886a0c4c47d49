/**
 * What this process makes can be read and changed by the group of the run's volume and by nobody else: several
 * users, one in each kind of pod, work on the same volume.
 */
export function shareWithVolumeGroup(): void {
  process.umask(0o007);
}
