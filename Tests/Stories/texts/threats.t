What a thief gets, and does not get, as docs/explanation/threat-model.md says.

`stolen DIRECTORY` copies the state, `without_secret DIRECTORY` all of it except the secret, which is a new one there.

  $ stolen() { mkdir "$1" && cp --archive state "$1/state"; }
  $ without_secret() { stolen "$1" && openssl rand -out "$1/state/secret" 32; }
  $ change() { sqlite3 -cmd '.timeout 30000' state/agent.db "UPDATE enrollment SET $1"; }
  $ sandbox

# A copy of the state without the secret tells when but not what was bought

  $ agent
  $ enroll --name victim --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as victim.
  $ acs="$(requested)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ stop_agent
  $ without_secret copy
  $ grep --text --files-with-matches "$acs" copy/state/agent.db
  copy/state/agent.db
  $ grep --text --recursive CoffeeHouse2 copy
  [1]

# No agent starts on a copy of the state without the secret

  $ cd copy && failing_start
  Error: the secret is not the one that this state was made with: give that one (--secret-file)
  [78]
  $ cd ..

# A copy of the state with the secret signs, and the agent notices

  $ stolen thief && cd thief && agent
  $ acs="$(requested)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ stop_agent
  $ cd .. && agent
  $ acs="$(requested)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl status --json | field '.warnings[] | select(.id == "signCountRaised") | .severity, .message'
  high
  at <time> the issuer of enrollment <id 1> had accepted signCount 2, above the 1 known here: this state was an old copy, or someone else has the key
  $ stop_agent

# Nobody gets new tries by writing the count of wrong PINs

  $ mkdir pin && cd pin && agent
  $ private right k4rtoffel
  $ private wrong kartoffel
  $ enroll --name guarded --authn-type pin --pin-file right
  <id 2>
  Enrolled at http://localhost:<port> as guarded.
  $ acs="$(requested --user-verification required)"
  $ approve "$acs" --pin-file right
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ stop_agent
  $ stolen kept
  $ agent
  $ acs="$(requested --user-verification required)"
  $ approve "$acs" --pin-file wrong
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 2> is blocked
  [5]
  $ change 'pin_failures = 0'
  $ approve "$acs" --pin-file wrong
  Error: the row of enrollment <id 2> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 2> --local --force)
  [1]
  $ approve "$acs" --pin-file right
  Error: the row of enrollment <id 2> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 2> --local --force)
  [1]
  $ stop_agent

# An old sealed key that is put back is found by the first doctor

  $ rm -r state && cp --archive kept/state state
  $ agent
  $ old="$(sqlite3 state/agent.db 'SELECT hex(sealed_key) FROM enrollment')"
  $ oobctl pin change guarded --pin-file right --new-pin-file wrong
  Changed the PIN of <id 2>.
  $ change "sealed_key = x'$old'"
  $ oobctl doctor --json | field '.[] | select(.enrollment) | .id'
  enrollmentDamaged
  $ stop_agent

# A disk and a secret without the PIN approve nothing

  $ cd kept && agent
  $ acs="$(requested --user-verification required)"
  $ approve "$acs"
  Error: enrollment <id 2> takes a PIN for every approval, and none was given
  [5]
  $ approve "$acs" --pin-file ../wrong
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 2> is blocked
  [5]
  $ outcome "$acs"
  pending

# A disk, a secret and the PIN are the authenticator

  $ approve "$acs" --pin-file ../right
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ outcome "$acs"
  authenticated
  $ stop_agent

# A PIN and a disk without the secret are worth nothing

  $ without_secret copy && cd copy && failing_start
  Error: the secret is not the one that this state was made with: give that one (--secret-file)
  [78]
  $ cd ../../..

# A token goes to no other issuer that is written into the database

The other issuer fails each call on purpose and logs that.

  $ mkdir written && cd written && agent
  $ enroll --name victim --authn-type presence
  <id 3>
  Enrolled at http://localhost:<port> as victim.
  $ acs="$(requested)"
  $ stop_agent
  $ stolen kept
  $ issuer="$ISSUER"
  $ mkdir other && cd other && sandbox --faults 500=1 && cd ..
  $ change "issuer = '$ISSUER'"
  $ agent
  $ oobctl fetch
  1 pending
  $ for decision in approve deny; do oobctl "$decision" "$acs"; done
  Error: the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  Error: the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  [1]
  $ oobctl unenroll "$(oobctl list --json | field '.[].enrollmentId')"
  Error: the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  [1]
  $ grep call= other/sandbox.log
  [1]
  $ curl --silent "$ISSUER/jwks.json" >answer.json
  $ grep --count call= other/sandbox.log
  1
  $ ISSUER="$issuer"
  $ outcome "$acs"
  pending

The agent says so.

  $ said() {
  >     oobctl status --json | field '.state, .reasons[]'
  >     oobctl doctor --json | field '.[].id' | grep enrollmentDamaged
  >     oobctl audit verify
  > }
  $ said
  degraded
  the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  enrollmentDamaged
  The journal: entry 4 does not vouch for enrollment <id 3>: its row is not as the agent wrote it.
  [1]
  $ stop_agent

# No user verification is claimed for another authnType that is written into the database

  $ rm -r state && cp --archive kept/state state
  $ change "authn_type = 'test'"
  $ agent
  $ oobctl approve "$acs"
  Error: the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  [1]
  $ outcome "$acs"
  pending
  $ said
  degraded
  the row of enrollment <id 3> in the database is not as the agent wrote it: nothing of it is used; find out who writes to the database, and restore a backup (or end it: oobctl unenroll <id 3> --local --force)
  enrollmentDamaged
  The journal: entry 4 does not vouch for enrollment <id 3>: its row is not as the agent wrote it.
  [1]
