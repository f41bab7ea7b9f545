A state directory on a small disk that is full, and files that the agent may not change.

  $ ((UID == 0)) || skip 'mounts need root'
  $ trap 'end_started; umount --lazy --recursive state 2>umount.log' EXIT
  $ small_disk() { mkdir --mode=700 --parents state && mount -t tmpfs -o "$1,mode=0700" oob-test state; }

`fill` takes all room with a file, in which the agent gives up none: it stands still meanwhile.

  $ fill() {
  >     kill -STOP "$agent_pid" 2>kill.log
  >     dd if=/dev/zero of="state/$1" bs=4096 status=none 2>&1 | grep --only-matching 'No space left on device'
  >     kill -CONT "$agent_pid" 2>kill.log
  >     true
  > }

  $ small_disk size=64m
  $ sandbox
  $ agent
  $ enroll --name kitchen --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.

# On a full disk pending requests are decided and nothing new is taken in

The agent keeps a file in reserve for that.

  $ pending=()
  $ for number in {1..10}; do pending+=("$(requested)"); done
  $ until_true test -e state/agent.db-reserve
  $ fill filler
  No space left on device
  $ for acs in "${pending[@]:1}"; do approve "$acs"; done 2>&1 | uniq --count
        9 Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ until_true agent_is degraded
  $ oobctl status --json | field '.reasons[]'
  the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that (glob)
  $ ls state/agent.db-reserve
  ls: cannot access 'state/agent.db-reserve': No such file or directory
  [2]
  $ while_full="$(purchase)"
  $ enroll --name another
  Error: nothing was changed: the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that (glob)
  [1]
  $ oobctl fetch
  Error: nothing was changed: the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that (glob)
  [1]
  $ oobctl show "$while_full"
  Error: there is no request <uuid 1>
  [3]
  $ approve "${pending[0]}"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ for acs in "${pending[@]}"; do outcome "$acs"; done | uniq --count
       10 authenticated

With room again, the agent goes on by itself and makes a new reserve.

  $ rm state/filler
  $ until_true agent_is ready
  $ until_true has_request "$while_full"
  $ approve "$while_full"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ ls state/agent.db-reserve
  state/agent.db-reserve
  $ grep --count 'error the database is in trouble' agent.log
  [1-3] (re)

# On a full disk whose reserve is used up nothing is decided

  $ stop_agent
  $ : >agent.log
  $ agent
  $ pending="$(requested)"
  $ until_true test -e state/agent.db-reserve
  $ fill filler
  No space left on device
  $ while_full="$(purchase)"
  $ until_true agent_is degraded
  $ fill another
  No space left on device
  $ for time in first second; do oobctl approve "$pending" --json 2>&1 | field .error; done
  {
    "code": 20001,
    "message": "nothing was changed: the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that", (glob)
    "name": "core"
  }
  {
    "code": 20001,
    "message": "nothing was changed: the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that", (glob)
    "name": "core"
  }
  [1]
  $ outcome "$pending"
  pending
  $ rm state/filler state/another
  $ until_true agent_is ready
  $ until_true has_request "$while_full"
  $ approve "$pending"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ approve "$while_full"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ grep --count 'error the database is in trouble' agent.log
  [1-3] (re)

# The agent starts on a full disk in the room of its reserve

  $ pending="$(requested)"
  $ until_true test -e state/agent.db-reserve
  $ stop_agent
  $ fill filler
  No space left on device
  $ agent
  $ until_true agent_is degraded
  $ oobctl status --json | field '.reasons[]'
  the database <folder>/state/agent.db cannot be written, its disk is full*: make room; the agent goes on by itself after that (glob)
  $ approve "$pending"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ outcome "$pending"
  authenticated

Without a reserve it does not start.

  $ stop_agent
  $ fill another
  No space left on device
  $ failing_start
  Error: the database <folder>/state/agent.db cannot be written, its disk is full*: make room (glob)
  [74]

# The doctor says that a disk is nearly full

  $ umount state && small_disk size=2m
  $ agent
  $ disk_is_low() { oobctl doctor --json | jq 'any(.id == "diskLow")'; }
  $ disk_is_low
  false
  $ fill filler
  No space left on device
  $ disk_is_low
  true
  $ rm state/filler
  $ disk_is_low
  false
  $ stop_agent

# A disk without room for the first files is named as the reason

The disk has room for its own inode, and then for the lock's.

  $ for count in 1 2; do umount state && small_disk "nr_inodes=$count" && failing_start || echo "[$?]"; done
  Error: open <folder>/state/agent.lock: No space left on device
  [74]
  Error: the secret could not be made: <folder>/state/secret: open: No space left on device; make room on the file system
  [74]

# A database that is read-only is refused

  $ umount state
  $ agent
  $ stop_agent
  $ mount --bind state/agent.db state/agent.db && mount -o remount,bind,ro state/agent.db
  $ failing_start
  Error: the database <folder>/state/agent.db cannot be written, it or its file system is read-only (Read-only file system): change that
  [77]
  $ umount state/agent.db

# A database of another user is refused

  $ chown 65534:65534 state/agent.db
  $ failing_start
  Error: the database <folder>/state/agent.db is not this user's to change (it belongs to uid 65534): its files must belong to the user whom the agent runs as
  [77]
