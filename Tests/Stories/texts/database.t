A database that is in trouble: a lock, damage, another version, a file that may not be used.

`lock` holds the database's lock as another process does, until `unlock`.

  $ lock() {
  >     rm -f locked
  >     sqlite3 -bail state/agent.db <statements & locking=$!
  >     exec 9>statements
  >     printf '%s\n' '.timeout 60000' 'BEGIN EXCLUSIVE;' '.shell touch locked' >&9
  >     until_true test -e locked
  > }
  $ unlock() { exec 9>&- && wait "$locking"; }
  $ mkfifo statements

`damage` writes over the first page of a table or an index.

  $ damage() {
  >     sqlite3 state/agent.db 'PRAGMA wal_checkpoint(TRUNCATE)' >checkpoint.txt
  >     local size page
  >     size="$(sqlite3 state/agent.db 'PRAGMA page_size')"
  >     page="$(sqlite3 state/agent.db "SELECT rootpage FROM sqlite_master WHERE name = '$1'")"
  >     head --bytes="$size" /dev/zero | tr '\0' '\245' |
  >         dd of=state/agent.db bs="$size" seek="$((page - 1))" conv=notrunc status=none
  > }

  $ sandbox
  $ agent
  $ enroll --name kitchen --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.

# Nothing is decided while another process has locked the database

  $ acs="$(requested)"
  $ lock
  $ oobctl approve "$acs" --json 2>&1 | field .error
  {
    "code": 20001,
    "message": "nothing was changed: the database <folder>/state/agent.db is locked by another process (database is locked, SQLite's result code 5): end that one (`fuser <folder>/state/agent.db` names it); the agent goes on by itself after that",
    "name": "core"
  }
  [1]
  $ outcome "$acs"
  pending
  $ meanwhile="$(purchase)"
  $ until_true agent_is degraded
  $ oobctl status --json | field '.reasons[]'
  the database <folder>/state/agent.db is locked by another process (database is locked, SQLite's result code 5): end that one (`fuser <folder>/state/agent.db` names it); the agent goes on by itself after that

The agent recovers by itself.

  $ unlock
  $ until_true agent_is ready
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ until_true has_request "$meanwhile"
  $ approve "$meanwhile"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ grep --count 'error the database is in trouble' agent.log
  [1-3] (re)

# Nothing is decided on a damaged database

This page is not read at a start.

  $ acs="$(requested)"
  $ stop_agent
  $ cp --archive state whole
  $ damage request_by_jti
  $ : >agent.log
  $ agent
  $ oobctl show "$acs" --json 2>&1 | field .error.name
  core
  [1]
  $ until_true agent_is degraded
  $ oobctl status --json | field '.reasons[]'
  the database <folder>/state/agent.db is damaged (database disk image is malformed, SQLite's result code 11): nothing is decided on it any more; stop the agent and restore a backup
  $ oobctl approve --next
  Error: nothing was changed: the database <folder>/state/agent.db is damaged (database disk image is malformed, SQLite's result code 11): nothing is decided on it any more; stop the agent and restore a backup
  [1]
  $ enroll --name another
  Error: nothing was changed: the database <folder>/state/agent.db is damaged (database disk image is malformed, SQLite's result code 11): nothing is decided on it any more; stop the agent and restore a backup
  [1]
  $ oobctl list --json | field '.[].acsTransId' | grep --count "$acs"
  1
  $ outcome "$acs"
  pending
  $ grep --count 'error the database is in trouble' agent.log
  [1-3] (re)
  $ stop_agent

# The agent does not start on a damaged page that it reads

`restore` brings the state back as it was before the damage.

  $ restore() { rm -rf state && cp --archive whole state; }
  $ restore && damage request
  $ failing_start
  Error: the database <folder>/state/agent.db is damaged (database disk image is malformed, SQLite's result code 11): nothing is decided on it any more; stop the agent and restore a backup
  [65]

# The agent does not start on a file that is no database

  $ restore
  $ head --bytes=8192 /dev/zero >state/agent.db
  $ failing_start
  Error: the database <folder>/state/agent.db is damaged (file is not a database, SQLite's result code 26): nothing is decided on it any more; stop the agent and restore a backup
  [65]

# The agent does not start while another process has locked the database

  $ restore && lock
  $ failing_start
  Error: the database <folder>/state/agent.db is locked by another process (database is locked, SQLite's result code 5): end that one (`fuser <folder>/state/agent.db` names it)
  [69]
  $ unlock

# A database of a newer version is refused

  $ sqlite3 state/agent.db 'UPDATE oob_agent_store SET form = 99, least_form = 98'
  $ failing_start
  Error: the database <folder>/state/agent.db was made by a newer version of the agent (its tables have form 99): use that version, or a backup from before the upgrade
  [78]

# A database of an unreleased version is refused and left as it is

`sums` prints the checksums of the state's files; the lock's names its process.

  $ sums() { find state -type f ! -name agent.lock -exec sha256sum {} + | sort; }
  $ restore
  $ sqlite3 state/agent.db 'ALTER TABLE oob_agent_store RENAME TO grdb_migrations'
  $ sums >sums.txt
  $ failing_start
  Error: the database <folder>/state/agent.db was made by an unreleased version of the agent, or by another program (it has a table audit_key): it stays as it is; give this version an empty one, and enroll anew
  [78]
  $ sums | diff - sums.txt

So is one without its secret.

  $ rm state/secret && sums >sums.txt
  $ failing_start
  Error: there is no secret <folder>/state/secret, and the database <folder>/state/agent.db was made with one: put that one there, or name it with --secret-file
  [78]
  $ sums | diff - sums.txt

# A database without its secret is refused until the secret is back

  $ restore
  $ mv state/secret kept && sums >sums.txt
  $ failing_start
  Error: there is no secret <folder>/state/secret, and the database <folder>/state/agent.db was made with one: put that one there, or name it with --secret-file
  [78]
  $ sums | diff - sums.txt
  $ mv kept state/secret
  $ agent
  $ stop_agent

# Key files of an unreleased version without a database are refused and left as they are

  $ mv state database && mkdir --mode=700 state && mkdir state/keys
  $ echo sealed >state/keys/0123456789abcdef0123.key
  $ private state/secret 'a secret that an agent has made.'
  $ sums >sums.txt
  $ failing_start
  Error: the state directory <folder>/state has keys in files (keys) and no database: it was made by an unreleased version of the agent; it stays as it is; give this version an empty one, and enroll anew
  [78]
  $ sums | diff - sums.txt

# A database that this user may not write is refused

Root may write whatever the mode is, unless it has lost its capabilities.

  $ restore
  $ chmod 400 state/agent.db
  $ if ((UID)); then failing_start; else failing_start setpriv --bounding-set=-all; fi
  Error: the database <folder>/state/agent.db is not this user's to change (Permission denied): its files must belong to the user whom the agent runs as
  [77]

# An error that nobody foresaw is one line, an exit status and a status for the service manager

A table has no column `seq` any more.

  $ restore
  $ sqlite3 state/agent.db 'ALTER TABLE journal RENAME COLUMN seq TO number'
  $ python3 -c '
  > import socket
  > with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
  >     manager.bind("notify")
  >     while True:
  >         print(manager.recv(8192).decode(), flush=True)' >told.txt & started+=($!)
  $ until_true test -S notify
  $ failing_start env NOTIFY_SOCKET="$PWD/notify"
  Error: internal error, or another program wrote to the database: SQLite error 1: no such column: seq* (glob)
  [70]
  $ until_true grep 'STATUS=Not started' told.txt
  $ grep 'STATUS=Not started' told.txt
  STATUS=Not started: internal error, or another program wrote to the database: SQLite error 1: no such column: seq* (glob)
