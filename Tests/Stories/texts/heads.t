The head of the journal, which a host keeps beside its database: an older database in the place of the newest, and a
state directory without its head. With PostgreSQL: test_heads.py.

  $ sandbox
  $ agent
  $ enroll --name kitchen
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.
  $ accept() { timeout 60 oob-agent --state-dir state --socket accept.sock "$@" </dev/null; }
  $ reasons() { oobctl status --json | field .reasons[]; }

# A database that was put back approves nothing before the issuer was asked, until it is accepted

  $ first="$(requested)"
  $ second="$(requested)"
  $ stop_agent
  $ mkdir saved && cp state/agent.db* saved
  $ agent
  $ oobctl approve "$first"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ stop_agent
  $ cp state/head newest
  $ rm state/agent.db* && cp saved/* state

The issuer is stopped meanwhile, as the agent asks it at once after a start. A second start changes nothing.

  $ for start in 1 2; do
  >   kill -STOP "$sandbox_pid" && agent && reasons && oobctl doctor --json | field .[].id | grep restored
  >   oobctl approve "$second"; oobctl show "$second" --json | field .state
  >   kill -CONT "$sandbox_pid" && stop_agent; cmp state/head newest
  > done
  restored: this host has noted entry * of its journal, and the database ends with *; no PIN is taken, and other approvals only after the issuer has said which signCount it accepted, until, with the agent stopped, oob-agent --accept-head takes the database as it is (glob)
  restored
  Error: nothing was decided: after a refused assertion or a restore, the issuer must first say which signCount it accepted: the issuer did not answer within 5 s; ask again
  pending
  restored: this host has noted entry * of its journal, and the database ends with *; no PIN is taken, and other approvals only after the issuer has said which signCount it accepted, until, with the agent stopped, oob-agent --accept-head takes the database as it is (glob)
  restored
  Error: nothing was decided: after a refused assertion or a restore, the issuer must first say which signCount it accepted: the issuer did not answer within 5 s; ask again
  pending
  $ grep --only-matching 'the database is in doubt' agent.log
  the database is in doubt
  the database is in doubt
  $ accept --accept-head 2>&1 | grep --only-matching 'What was in doubt: restored'
  What was in doubt: restored
  $ agent
  $ reasons
  $ until_true oobctl approve "$second"
  $ oobctl audit export | field .entry | grep headAccepted
  headAccepted
  $ stop_agent
  $ accept --accept-head
  There was nothing to accept: the agent starts as it is.
  

# Without its head a host approves nothing until that is accepted, and it denies

  $ agent
  $ first="$(requested)"
  $ second="$(requested)"
  $ kill_agent
  $ rm state/head
  $ agent
  $ reasons
  headMissing: there is no <folder>/state/head, so it cannot be told whether the database is the newest; nothing is approved until, with the agent stopped, oob-agent --accept-head takes it as it is
  $ oobctl approve "$first"
  Error: nothing was decided: headMissing: there is no <folder>/state/head, so it cannot be told whether the database is the newest; nothing is approved until, with the agent stopped, oob-agent --accept-head takes it as it is
  [1]
  $ oobctl deny "$second"
  Denied USD 1.00 to CoffeeHouse2: the issuer took it (transStatus N). The request has no return URL.
  $ stop_agent
  $ test -e state/head
  [1]
  $ accept --accept-head
  <time> error the database is in doubt kind=headMissing reason="headMissing: there is no state/head, so it cannot be told whether the database is the newest; nothing is approved until, with the agent stopped, oob-agent --accept-head takes it as it is"
  Accepted, and written down in the journal. What was in doubt: headMissing: there is no state/head, so it cannot be told whether the database is the newest; nothing is approved until, with the agent stopped, oob-agent --accept-head takes it as it is.
  Next, start the agent.
  
  $ stat --format %a state/head
  600
  $ agent
  $ oobctl approve "$first"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.

# While an agent runs nothing is accepted

  $ accept --accept-head
  Error: another agent runs on this state: state/agent.lock is locked by process \d+; stop it, or use another directory (re)
  [69]

# A host that is killed again and again has its head

  $ for kill in 1 2 3 4; do kill_agent; agent; reasons; done
  $ head -1 state/head
  oob-agent journal head 1

# A restored backup has no head at its first start, and misses it later

  $ oobctl backup backup.db
  Wrote \d+ bytes to backup.db. The agent's secret is not in it: keep that elsewhere. (re)
  $ stop_agent
  $ mkdir restored && cd restored
  $ accept --restore ../backup.db
  Restored into state: the state as it was at <time>.
  Next, give the agent the secret of that state (--secret-file), and start it. No other agent may run on this state. The agent asks each issuer for the greatest signCount that it accepted, and goes above.
  $ agent --secret-file ../state/secret && reasons && stop_agent
  $ rm state/head
  $ agent --secret-file ../state/secret && reasons && stop_agent
  headMissing: there is no <folder>/restored/state/head, so it cannot be told whether the database is the newest; nothing is approved until, with the agent stopped, oob-agent --accept-head takes it as it is
  $ cd ..

# The head of another agent's journal stops the start, and stays

  $ mkdir other && cd other && agent && stop_agent && cd ..
  $ cp other/state/head state/head
  $ accept
  Error: state/head is of another agent's or host's journal, under another audit key: start the agent on the database that it belongs to
  [78]
  $ accept --accept-head
  Error: state/head is of another agent's or host's journal, under another audit key: start the agent on the database that it belongs to
  [78]
  $ cmp state/head other/state/head

# Flags that each do something else are not given together

  $ accept --accept-head --restore backup.db
  Error: --restore and --accept-head cannot be given together: give one of them
  [64]
  $ accept --accept-head --accept-clock
  Error: --accept-head and --accept-clock cannot be given together: give one of them
  [64]
  $ accept --accept-head --migrate-to postgres:///oob
  Error: --accept-head and --migrate-to cannot be given together: give one of them
  [64]
  $ cmp state/head other/state/head
