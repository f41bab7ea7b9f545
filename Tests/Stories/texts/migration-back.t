A state that is moved from PostgreSQL into a SQLite file: all of it, once, and never two that can be started.

`two` makes hosts that work, alpha with an enrollment and beta with one under a PIN.

  $ source "$TESTDIR/hosts.bash"
  $ server
  $ sandbox
  $ private pin 736251
  $ private new 918273
  $ private bad 111111
  $ two() {
  >     place "$1"
  >     host alpha
  >     host beta
  >     guarded="$(enroll_at beta --authn-type pin --pin-file ../pin --name guarded)"
  >     card="$(enroll_at alpha)"
  > }
  $ back() { move "${1:-alpha}" --host-name "${1:-alpha}" --database "$URL" --migrate-to sqlite; }
  $ here() { sqlite3 alpha/state/agent.db "$1"; }
  $ lists() { at alpha enrollments --json | jq 'map(del(.keyTest))'; at alpha list --all --json | jq .; }

# All of the state comes back, and the agent goes on with it

  $ two all
  $ approves alpha
  approved
  $ approves beta
  approved
  $ for time in first second; do
  >     at beta pin change guarded --pin-file ../bad --new-pin-file ../pin
  > done
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 1> is blocked
  Error: not verified: wrong PIN. 3 tries left before enrollment <id 1> is blocked
  [5]
  $ ended="$(enroll_at beta --name ended)"
  $ at beta unenroll ended
  Unenrolled ended.
  $ lists >there.txt
  $ stop alpha beta
  $ back
  Moved to <folder>/all/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/all/alpha/state, under names that begin with journal-of-hosts-.

No host starts any more, and the agent has the same lists.

  $ move beta --host-name beta --database "$URL"
  Error: the state in the database was moved to <folder>/all/alpha/state/agent.db of host alpha: start the agent on that one
  [65]
  $ single alpha
  $ lists | diff there.txt -
  $ here 'SELECT id FROM enrollment WHERE sealed_key IS NOT NULL' | sort | diff - <(printf '%s\n' "$card" "$guarded" | sort)

The wrong PINs that the other host has counted count on, and the journal says so.

  $ here "SELECT pin_failures FROM enrollment WHERE id = '$guarded'"
  2
  $ verifies alpha
  $ approves alpha
  approved
  $ here "SELECT sign_count FROM enrollment WHERE id = '$card'"
  3
  $ at alpha pin change guarded --pin-file ../pin --new-pin-file ../new
  Changed the PIN of <id 1>.

There is evidence of what another host has decided.

  $ at alpha evidence "$(at alpha list --all --json | field '.[1].id')" -o evidence
  evidence
  $ stop alpha
  $ single alpha
  $ verifies alpha
  $ stop alpha

# The journals of all hosts stay beside the state and can be checked by hand

`checked` runs the program of docs/reference/audit.md in a directory, and openssl for each chain.

  $ sed -n '/^```python$/,/^```$/p' "$TESTDIR"/../../../docs/reference/audit.md | sed '1d;$d' >"$TOP/check.py"
  $ checked() {
  >     (cd "$1" && python3 "$TOP/check.py" && for chain in "${@:2}"; do
  >         openssl dgst -sha256 -verify "$chain.pem" -signature "$chain.sig" "$chain.txt"
  >     done)
  > }
  $ two journals
  $ approves beta
  approved
  $ stop beta alpha
  $ back
  Moved to <folder>/journals/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/journals/alpha/state, under names that begin with journal-of-hosts-.
  $ single alpha
  $ mkdir alone
  $ at alpha audit verify --json >alone/verify.json
  $ at alpha audit export >alone/journal.jsonl
  $ stop alpha
  $ hosts="$(ls --directory alpha/state/journal-of-hosts-2*)"
  $ checked "$hosts" alpha beta
  Verified OK
  Verified OK
  $ checked alone journal
  Verified OK
  $ entry() { jq --raw-output "select(.chain == \"$1\" and .entry == \"$2\") | .entry" "$hosts/journal.jsonl" | sort --unique; }
  $ entry beta decided && entry beta stopped && entry alpha hostsSeen
  decided
  stopped
  hostsSeen

The agent's own journal begins with all entries of its host's chain, and goes on behind them.

  $ sed -n 's/^{"chain":"alpha",/{/p' "$hosts/journal.jsonl" >chain.jsonl
  $ head --lines="$(wc -l <chain.jsonl)" alone/journal.jsonl | diff - chain.jsonl
  $ sed -n "$(($(wc -l <chain.jsonl) + 1))p" alone/journal.jsonl | field .entry
  moved

# The state goes to another database again, where a host of an old name is another one

  $ two again
  $ approves beta
  approved
  $ stop beta alpha
  $ back
  Moved to <folder>/again/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/again/alpha/state, under names that begin with journal-of-hosts-.
  $ database another
  $ move alpha --host-name alpha --migrate-to "$URL"
  Moved to postgres://oob@/another?host=<folder>/server&port=5432: 2 enrollments, with their keys and all that the agent keeps.
  $ host alpha
  $ rm -r beta && host beta
  $ approves alpha
  approved
  $ approves beta
  approved
  $ stop beta
  $ rm -r beta && host beta
  $ verifies alpha && verifies beta
  $ sql "SELECT sign_count FROM enrollment WHERE id = '$card'"
  3
  $ stop alpha beta

Back once more, over the file that says where the state was moved to:

  $ back
  Moved to <folder>/again/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/again/alpha/state, under names that begin with journal-of-hosts-.
  $ single alpha
  $ approves alpha
  approved
  $ verifies alpha
  $ stop alpha

# A return that is cut short before the state is marked leaves hosts that start or is made again

No agent begins a new state beside half of one, which would be written over.

  $ two before
  $ stop alpha beta
  $ half() { for name in agent.db.moving agent.db.moving-wal; do echo 'half a state' >"alpha/state/$name"; done; }
  $ half
  $ move alpha
  Error: a move of the hosts' state into <folder>/before/alpha/state did not finish: run oob-agent --migrate-to again
  [65]
  $ host alpha
  $ approves alpha
  approved
  $ ls alpha/state | grep moving
  [1]
  $ stop alpha
  $ half
  $ back
  Moved to <folder>/before/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/before/alpha/state, under names that begin with journal-of-hosts-.
  $ single alpha
  $ approves alpha
  approved
  $ here "SELECT sign_count FROM enrollment WHERE id = '$card'"
  2
  $ stop alpha

# A return that is cut short after the state is marked leaves none that starts, and goes on

  $ two after
  $ stop alpha beta
  $ back
  Moved to <folder>/after/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/after/alpha/state, under names that begin with journal-of-hosts-.
  $ mv alpha/state/agent.db alpha/state/agent.db.moving
  $ move beta --host-name beta --database "$URL"
  Error: the state in the database was moved to <folder>/after/alpha/state/agent.db of host alpha: start the agent on that one
  [65]
  $ move alpha
  Error: a move of the hosts' state into <folder>/after/alpha/state did not finish: run oob-agent --migrate-to again
  [65]
  $ back
  Moved to <folder>/after/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/after/alpha/state, under names that begin with journal-of-hosts-.
  $ single alpha
  $ approves alpha
  approved
  $ stop alpha

A second time it only says so.

  $ back
  Moved to <folder>/after/alpha/state/agent.db, with the keys and all that the hosts kept. The journals of all hosts until now are in <folder>/after/alpha/state, under names that begin with journal-of-hosts-.
  $ single alpha
  $ approves alpha
  approved
  $ stop alpha

# A host that starts meanwhile keeps the state

While the state is moved, alpha records what beta has written: that is when beta is made to start.

  $ two meanwhile
  $ stop alpha beta
  $ host beta
  $ approves beta
  approved
  $ stop beta
  $ sql "CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
  >     UPDATE host SET incarnation = incarnation + 1 WHERE name = 'beta'; RETURN NULL; END \$\$"
  $ sql 'CREATE TRIGGER meanwhile AFTER INSERT ON journal FOR EACH STATEMENT EXECUTE FUNCTION meanwhile()'
  $ back
  Error: nothing was moved: postgres://oob@/meanwhile?host=<folder>/server&port=5432: a host has started on the database meanwhile: stop it, and move the state again
  [69]
  $ sql 'DROP TRIGGER meanwhile ON journal'
  $ host alpha
  $ approves alpha
  approved
  $ stop alpha

# A return that is not right moves nothing, and the hosts start as before

Another host runs, then the one itself:

  $ two wrong
  $ stop alpha
  $ back
  Error: nothing was moved: postgres://oob@/wrong?host=<folder>/server&port=5432: its state cannot be moved while other hosts run: stop beta (one that was killed counts as running until its lease is over, usually 15 seconds)
  [69]
  $ host alpha
  $ stop beta
  $ back
  Error: another agent runs on this state: <folder>/wrong/alpha/state/agent.lock is locked by process *; stop it, or use another directory (glob)
  [69]
  $ stop alpha

Another secret, a host that has never run, and a row that no agent has written:

  $ openssl rand -out other 32 && chmod 600 other
  $ move alpha --secret-file other --host-name alpha --database "$URL" --migrate-to sqlite
  Error: the secret is not the one that this state was made with: give that one (--secret-file)
  [78]
  $ back gamma
  Error: nothing was moved: host gamma has no journal in the database: give the name of a host that has run there (--host-name)
  [64]
  $ sql 'UPDATE enrollment SET sign_count = sign_count + 7'
  $ back
  Error: nothing was moved: the state in postgres://oob@/wrong?host=<folder>/server&port=5432 is not whole: its journal: entry * is missing: enrollment * is at signCount 7, the journal at 0 (glob)
  [65]
  $ sql 'UPDATE enrollment SET sign_count = sign_count - 7'

A state that is there:

  $ single delta
  $ stop delta
  $ move delta --host-name beta --database "$URL" --migrate-to sqlite
  Error: nothing was moved: there is a state of an agent in <folder>/wrong/delta/state already
  [73]

Targets that are neither:

  $ for target in mysql "$URL"; do
  >     move alpha --host-name alpha --database "$URL" --migrate-to "$target" || echo "[$?]"
  > done
  Error: --migrate-to: must be sqlite for a state in PostgreSQL, which --database names
  [64]
  Error: --migrate-to: must be sqlite for a state in PostgreSQL, which --database names
  [64]
  $ move alpha --migrate-to sqlite
  Error: --migrate-to: sqlite is for a state in PostgreSQL: name it with --database
  [64]
  $ host alpha
  $ approves alpha
  approved
  $ stop alpha
