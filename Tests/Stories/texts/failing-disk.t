A disk that fails: strace lets the fdatasync of the database's log fail.

  $ ((UID == 0)) && command -v strace >strace.path || skip 'needs root and strace'
  $ failing() {
  >     strace --follow-forks --output=/dev/null --trace-path=state/agent.db-wal --trace=fdatasync \
  >         --inject="fdatasync:error=EIO$1" --attach="$agent_pid" 2>strace.log & strace_pid=$!
  >     started+=("$strace_pid")
  >     until_true grep attached strace.log
  > }
  $ whole() { kill "$strace_pid" 2>kill.log; wait "$strace_pid"; true; }
  $ crash() { kill -KILL "$agent_pid"; wait "$agent_pid" 2>crash.log; true; }
  $ refusal() { oobctl approve "$1" --json 2>&1 | field '.error | "\(.code) \(.name): \(.message)"'; }
  $ sign_count() { oobctl enrollments --json | field '.[].signCount'; }

  $ sandbox
  $ agent
  $ enroll --name kitchen --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.

# A commit whose fsync failed once does not come up after a crash

SQLite rolls it back and leaves it whole in the log, where the recovery would find it.

  $ acs="$(requested)"
  $ failing :when=1
  $ refusal "$acs"
  20001 core: nothing was changed: the disk of the database <folder>/state/agent.db fails, or its file system has turned read-only (disk I/O error, SQLite's result code 1034): see the kernel's log, and this user's quota; the agent goes on by itself after that
  [1]
  $ outcome "$acs"
  pending
  $ crash
  $ whole
  $ agent
  $ oobctl show "$acs" --json | field .state
  pending
  $ until_true agent_is ready
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ sign_count
  1

# A commit whose fsync fails again and again is said to be in doubt

Only the disk knows whether it has the one or the other.

  $ acs="$(requested)"
  $ failing
  $ refusal "$acs"
  20001 core: it is not known whether this was kept, so look before you do it again: the disk of the database <folder>/state/agent.db fails, or its file system has turned read-only (disk I/O error, SQLite's result code 1034): see the kernel's log, and this user's quota; the agent goes on by itself after that
  [11]
  $ outcome "$acs"
  pending
  $ until_true agent_is degraded
  $ oobctl status --json | field '.reasons[]'
  the disk of the database <folder>/state/agent.db fails, or its file system has turned read-only (disk I/O error, SQLite's result code 1034): see the kernel's log, and this user's quota; the agent goes on by itself after that
  $ crash
  $ whole
  $ agent
  $ oobctl show "$acs" --json | field .state
  pending
  $ until_true agent_is ready
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ sign_count
  2

# The agent recovers from a disk that fails for a while

  $ acs="$(requested)"
  $ failing
  $ for time in first second; do refusal "$acs"; done
  20001 core: it is not known whether this was kept, so look before you do it again: the disk of the database <folder>/state/agent.db fails, or its file system has turned read-only (disk I/O error, SQLite's result code 1034): see the kernel's log, and this user's quota; the agent goes on by itself after that
  20001 core: it is not known whether this was kept, so look before you do it again: the disk of the database <folder>/state/agent.db fails, or its file system has turned read-only (disk I/O error, SQLite's result code 1034): see the kernel's log, and this user's quota; the agent goes on by itself after that
  [11]
  $ outcome "$acs"
  pending
  $ meanwhile="$(purchase)"
  $ until_true agent_is degraded
  $ whole
  $ until_true agent_is ready
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ until_true has_request "$meanwhile"
  $ approve "$meanwhile"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ sign_count
  4
