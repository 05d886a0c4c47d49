/** What a reader found under a path of a workspace. */
export type WorkspaceText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Something is there that cannot be read as a file: a folder, a device, a file beyond the bound. */
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Read access to the files an agent left, for checks. The files are hostile: an implementation follows no link,
 * opens nothing but regular files, bounds what it reads and never leaves the workspace. A path is relative with
 * forward slashes; one that leaves the workspace counts as missing.
 */
export interface WorkspaceReader {
  /** True for a regular file and for a folder. */
  exists(path: string): Promise<boolean>;
  /** Contents as UTF-8, an invalid byte replaced by U+FFFD. Line ends are left as they are. */
  readText(path: string): Promise<WorkspaceText>;
}
