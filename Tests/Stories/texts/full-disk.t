An agent on a full disk, which is mounted for this script alone.

  $ needs_root
  $ unshare --mount mount -t tmpfs oob "$PWD" 2>mount.log || exit 80

# An agent whose control socket's disk is full does not start and says so

  $ mkdir disk
  $ unshare --mount sh -c 'mount -t tmpfs -o size=64k,mode=0700 oob disk && cat /dev/zero >disk/filler 2>filler.log
  >   exec timeout 120 oob-agent --state-dir "$PWD/state" --socket "$PWD/disk/a.sock"' </dev/null 2>&1 | grep ^Error
  Error: the control socket <folder>/disk/a.sock cannot be made: write <folder>/disk/a.sock.lock: No space left on device; check its directory
  [69]
