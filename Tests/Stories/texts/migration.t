A state that is moved from a SQLite file into a PostgreSQL database: all of it, once, and never two that can be started.

  $ source "$TESTDIR/hosts.bash"
  $ server
  $ sandbox
  $ private pin 736251
  $ private new 918273
  $ migrate() { move alpha --host-name alpha --migrate-to "$URL"; }
  $ here() { sqlite3 alpha/state/agent.db "$1"; }

# All of the state goes over, and the agent goes on there and no more here

  $ place all
  $ single alpha
  $ guarded="$(enroll_at alpha --authn-type pin --pin-file ../pin --name guarded)"
  $ enroll_at alpha >card.txt
  $ approves alpha
  approved
  $ stop alpha
  $ migrate
  Moved to postgres://oob@/all?host=<folder>/server&port=5432: 2 enrollments, with their keys and all that the agent keeps.
  $ move alpha
  Error: the state in the database <folder>/all/alpha/state/agent.db was moved (moved to postgres://oob@/all?host=<folder>/server&port=5432): start the agent on that one; two that run on one state could use a signCount twice
  [65]

The key under the PIN went over as it is, and so did the journal.

  $ here "SELECT lower(hex(sealed_key)) FROM enrollment WHERE id = '$guarded'" >key.txt
  $ sql "SELECT encode(sealed_key, 'hex') FROM enrollment WHERE id = '$guarded'" | diff - key.txt
  $ host alpha
  $ host beta
  $ at beta enrollments --json | jq length
  2
  $ (($(sql "SELECT count(*) FROM journal WHERE host = 'alpha'") > $(here 'SELECT count(*) FROM journal')))
  $ approves beta
  approved
  $ approves alpha
  approved
  $ sql 'SELECT sum(sign_count) FROM enrollment'
  3

The PIN opens the key there.

  $ at beta pin change guarded --pin-file ../pin --new-pin-file ../new
  Changed the PIN of <id 1>.
  $ verifies alpha && verifies beta
  $ stop alpha beta

# Every table goes over with all its rows

  $ place rows
  $ single alpha
  $ card="$(enroll_at alpha)"
  $ approves alpha
  approved
  $ stop alpha
  $ here "
  >     INSERT INTO cancellation VALUES ('$card', 'other', 4102444800);
  >     INSERT INTO persona VALUES ('$card', '{}');
  >     INSERT INTO script VALUES (77, 'rule', '{}');
  >     INSERT INTO test_clock VALUES (1, 5);
  >     INSERT INTO journal_of_request VALUES (77, 64);
  >     UPDATE sqlite_sequence SET seq = 4711 WHERE name = 'enrollment'"
  $ migrate
  Moved to postgres://oob@/rows?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.

The database has these tables besides:

  $ here "SELECT name FROM sqlite_master WHERE type = 'table'" |
  >     grep --invert-match --line-regexp -e moved_state -e scrub_due -e sqlite_sequence | sort >here.txt
  $ sql "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace" | sort >there.txt
  $ comm -23 here.txt there.txt
  $ comm -13 here.txt there.txt
  host
  host_version
  lease
  lineage
  moved_state
  secret_change

The others have as many rows, and these have none:

  $ for table in $(<here.txt); do
  >     echo "$table $(here "SELECT count(*) FROM $table") $(sql "SELECT count(*) FROM $table")"
  > done >counts.txt
  $ awk '$2 != $3' counts.txt
  $ awk '$2 == 0 { print $1 }' counts.txt
  journal_checkpoint
  key_tries
  push_subscription
  $ sql 'SELECT document, rule FROM script'
  {}|rule

What is personal is encrypted in both, under a new key of each enrollment there.

  $ [[ "$(sql 'SELECT enrollment_id FROM data_key')" == "$card" ]]
  $ here 'SELECT lower(hex(bytes)) FROM evidence ORDER BY piece' >pieces.txt
  $ sql "SELECT encode(bytes, 'hex') FROM evidence ORDER BY piece" >kept.txt
  $ paste pieces.txt kept.txt | awk '{ print $1 == $2, length($1) == length($2) }' | uniq --count
        3 0 1
  $ here 'SELECT lower(hex(sealed)) FROM data_key' >key.txt
  $ sql "SELECT encode(sealed, 'hex') FROM data_key" | grep --fixed-strings --file=key.txt
  [1]

A number that was given is not given again, though its row is gone.

  $ sql "SELECT nextval(pg_get_serial_sequence('enrollment', 'seq')), nextval(pg_get_serial_sequence('evidence', 'piece'))"
  4712|4

# A second move only looks whether all is there

  $ place twice
  $ single alpha
  $ enroll_at alpha >card.txt
  $ stop alpha
  $ migrate
  Moved to postgres://oob@/twice?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ migrate
  Moved to postgres://oob@/twice?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ host alpha
  $ approves alpha
  approved
  $ stop alpha

# A move that is cut short before the state is marked leaves a state that starts or is moved again

The database is made as it is between the copy and the mark.

  $ place before
  $ single alpha
  $ enroll_at alpha >card.txt
  $ stop alpha
  $ migrate
  Moved to postgres://oob@/before?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ sql "INSERT INTO moved_state VALUES (1, 'in', '/somewhere')"
  $ here 'DELETE FROM moved_state'
  $ move beta --database "$URL" --host-name beta
  Error: a state is being moved into the database from /somewhere, or that was cut short: run that oob-agent --migrate-to again
  [65]
  $ single alpha
  $ approves alpha
  approved
  $ stop alpha
  $ migrate
  Moved to postgres://oob@/before?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ move alpha
  Error: the state in the database <folder>/before/alpha/state/agent.db was moved (moved to postgres://oob@/before?host=<folder>/server&port=5432): start the agent on that one; two that run on one state could use a signCount twice
  [65]
  $ host alpha
  $ approves alpha
  approved
  $ sql 'SELECT sign_count FROM enrollment'
  2
  $ stop alpha

# A move that is cut short after the state is marked leaves none that starts, and goes on

  $ place after
  $ single alpha
  $ enroll_at alpha >card.txt
  $ stop alpha
  $ migrate
  Moved to postgres://oob@/after?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ sql "INSERT INTO moved_state VALUES (1, 'in', '/somewhere')"
  $ move alpha
  Error: the state in the database <folder>/after/alpha/state/agent.db was moved (moved to postgres://oob@/after?host=<folder>/server&port=5432): start the agent on that one; two that run on one state could use a signCount twice
  [65]
  $ move beta --database "$URL" --host-name beta
  Error: a state is being moved into the database from /somewhere, or that was cut short: run that oob-agent --migrate-to again
  [65]
  $ migrate
  Moved to postgres://oob@/after?host=<folder>/server&port=5432: 1 enrollments, with their keys and all that the agent keeps.
  $ host alpha
  $ approves alpha
  approved
  $ stop alpha

# A state that is not right is not moved, and the agent starts as before

An agent that runs, another secret, tables of another form, and a row that the agent has not written:

  $ place wrong
  $ single alpha
  $ enroll_at alpha >card.txt
  $ migrate
  Error: another agent runs on this state: <folder>/wrong/alpha/state/agent.lock is locked by process *; stop it, or use another directory (glob)
  [69]
  $ stop alpha
  $ openssl rand -out other 32 && chmod 600 other
  $ move alpha --secret-file other --host-name alpha --migrate-to "$URL"
  Error: the secret is not the one that this state was made with: give that one (--secret-file)
  [78]
  $ here 'UPDATE oob_agent_store SET form = 2, least_form = 2'
  $ migrate
  Error: the database <folder>/wrong/alpha/state/agent.db was made by a newer version of the agent (its tables have form 2): use that version, or a backup from before the upgrade
  [78]
  $ here 'UPDATE oob_agent_store SET form = 1, least_form = 1'
  $ here 'UPDATE enrollment SET sign_count = sign_count + 7'
  $ migrate
  Error: nothing was moved: the state here is not whole: its journal: entry * is missing: enrollment <id 2> is at signCount 7, the journal at 0 (glob)
  [65]
  $ here 'UPDATE enrollment SET sign_count = sign_count - 7'

A database of another program:

  $ sql 'CREATE TABLE theirs (id INTEGER)'
  $ migrate
  Error: the database postgres://oob@/wrong?host=<folder>/server&port=5432 was made by an unreleased version of the agent, or by another program (it has a table theirs): it stays as it is; give this version an empty one, and enroll anew
  [78]
  $ sql 'DROP TABLE theirs'
  $ single alpha
  $ approves alpha
  approved
  $ stop alpha

# A database that hosts have used is left alone

  $ place used
  $ single alpha
  $ enroll_at alpha >card.txt
  $ stop alpha
  $ host gamma
  $ enroll_at gamma >card.txt
  $ migrate
  Error: postgres://oob@/used?host=<folder>/server&port=5432: the database is not empty, its table host has rows: a state is moved into one of its own
  [73]
  $ approves gamma
  approved
  $ stop gamma
  $ migrate
  Error: postgres://oob@/used?host=<folder>/server&port=5432: the database is not empty, its table host has rows: a state is moved into one of its own
  [73]

# A move without a state or a host name says what is missing

  $ place none
  $ migrate
  Error: there is no state of an agent in <folder>/none/alpha/state
  [66]
  $ oob-agent --state-dir "$PWD/alpha/state" --migrate-to "$URL"
  Error: --migrate-to: goes with host-name, which is not set
  [64]
