The sandbox from a shell, for whoever tests with it: what was, what goes wrong, the same again, and its clock.

  $ sandbox --test-clock
  $ agent --test-clock
  $ enroll --authn-type test --name payer
  <id 1>
  Enrolled at http://localhost:<port> as payer.
  Warning: enrollment <id 1> is a test authenticator

# Purchases are listed page by page and by their status

  $ first="$(purchase --merchant $'Mal\u202Elory')"
  $ second="$(purchase --merchant Second)"
  $ issuer cancel "$second"
  <uuid 1> cancelled
  $ third="$(requested --merchant Third)"
  $ issuer list --limit 2 2>said
  ACSTRANSID                            STATUS     AMOUNT    STARTED               MERCHANT
  <uuid 2>  pending    USD 1.00  <time>  Third
  <uuid 1>  cancelled  USD 1.00  <time>  Second
  $ [[ "$(<said)" == "oob-issuer: there are more: oob-issuer list --limit 2 --after $second" ]]
  $ issuer list --after "$second"
  ACSTRANSID                            STATUS   AMOUNT    STARTED               MERCHANT
  <uuid 3>  pending  USD 1.00  <time>  Mal\u{202E}lory
  $ issuer list --status cancelled --json | field '.purchases[].acsTransId'
  <uuid 1>
  $ issuer list --status authenticated
  oob-issuer: there are no purchases that are authenticated
  $ issuer cancel "$second"
  oob-issuer: the purchase is completed already: cancelled
  [1]

# A story says what was wrong and how it ended

  $ oobctl persona set wrongOrigin --enrollment payer --times 1
  <id 1> wrongOrigin
  $ acs="$(purchase)"
  $ is_refused() { issuer show "$acs" | grep '^refused: '; }
  $ until_true is_refused
  $ issuer show "$acs" | grep "^$acs\|^refused"
  <uuid 4> pending
  refused: at=<time> status=422 code=invalid_assertion detail=origin: origin is not http://localhost:<port>
  $ acs="$(requested)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ issuer show "$acs" | grep "^$acs\|signature"
  <uuid 5> authenticated
    signature: passed

# A replayed request is dropped, and one that is listed as new is presented

  $ [[ "$(issuer replay "$acs")" == "$acs" ]]
  $ anew="$(issuer replay "$acs" --as-new)"
  $ [[ "$anew" != "$acs" ]]

What came after the duplicate is there, so the duplicate was dropped.

  $ approve "$anew" --wait 60
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl list --all --json | jq --arg acs "$acs" '[.[] | select(.acsTransId == $acs)] | length'
  1
  $ issuer list --status authenticated --json | field '.purchases | length'
  2

# Faults are set, listed and cleared

  $ issuer faults set 503=1,path=fetch,seed=1 --next path=authenticator,status=500,times=2
  odds: 503=1,path=fetch,seed=1
  next: path=authenticator,status=500,moment=before,times=2
  $ issuer faults list
  odds: 503=1,path=fetch,seed=1
  next: path=authenticator,status=500,moment=before,times=2
  $ oobctl fetch >/dev/null
  http://localhost:<port>: the issuer answered 503, and neither 200 nor a problem with a known code
  [1]
  $ issuer faults clear --json
  {"cleared":2,"planned":0}
  $ oobctl fetch >/dev/null
  $ issuer faults list
  oob-issuer: no call is to fail

# A purchase that is waited for expires when the clock is advanced

  $ purchase --merchant Waiting --expires-in 86400 --wait >waited &
  $ waiting=$!
  $ is_listed() { issuer list | grep Waiting; }
  $ until_true is_listed
  $ issuer clock advance 1d
  <time>, a test's clock, 1d ahead of the machine's
  $ wait "$waiting"
  [1]
  $ head -n 1 waited
  <uuid 6> expired

# An enrollment is revoked

  $ id="$(oobctl enrollments --json | field '.[].authenticatorId')"
  $ issuer revoke "$id"
  <id 2> revoked
  $ is_suspended() { oobctl fetch; oobctl enrollments | grep suspended; }
  $ until_true is_suspended
  $ purchase
  oob-issuer: no authenticator is enrolled: enroll one first
  [1]

# Wrong usage is told by what was typed

  $ result issuer show 2f37539c
  [64] Error: <acsTransId> must be a UUID of 36 characters
  $ result issuer list --status pendin
  [64] Error: --status: no such status; did you mean pending? Allowed are pending, authenticated, notAuthenticated, expired, cancelled
  $ result issuer list --limit 1001
  [64] Error: --limit must be 1 to 1000
  $ result issuer list --after x
  [64] Error: --after must be a UUID of 36 characters
  $ result issuer revoke a/b
  [64] Error: <authenticatorId> must be 1 to 64 of A-Z a-z 0-9 _ -
  $ result issuer faults set
  [64] Error: Give odds, such as 500=0.1, or --next, such as path=decision,kind=drop.
  $ result issuer faults set 500=2
  [64] Error: <spec>: 500: must be odds of 0 to 1 in at most six decimals, such as 0.1
  $ result issuer faults set --next path=decision,kind=dro
  [64] Error: --next: kind: must be one of slow, drop, garbage, truncated, endless, duplicate, reorder, full-list, full-list-moving; did you mean drop?
  $ result issuer faults set --next path=decision,kin=drop
  [64] Error: --next: kin: no such member; did you mean kind? Allowed are kind, milliseconds, moment, path, retryAfter, status, times
  $ result issuer faults set --next path=decision,status=700
  [64] Error: --next: status must be an integer of 300 to 599
  $ for duration in 0s -5m 10 401d; do result issuer clock advance "$duration"; done
  [64] Error: <duration>: a clock moves by 1s at least
  [64] Error: <duration>: a clock only goes forwards: give a time above 0
  [64] Error: <duration>: "10" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  [64] Error: <duration>: all advances of a clock come to 400d at most

# An unknown purchase and a sandbox that is not there are told

  $ nobody=00000000-0000-0000-0000-000000000000
  $ for command in show cancel replay; do
  >   result issuer "$command" "$nobody"
  >   result oob-issuer "$command" "$nobody" --issuer http://localhost:1
  > done
  [1] oob-issuer: no purchase has this acsTransId
  [69] oob-issuer: no sandbox answers at http://localhost:1; start one with oob-issuer serve, or name it with --issuer
  [1] oob-issuer: no purchase has this acsTransId
  [69] oob-issuer: no sandbox answers at http://localhost:1; start one with oob-issuer serve, or name it with --issuer
  [1] oob-issuer: no purchase has this acsTransId
  [69] oob-issuer: no sandbox answers at http://localhost:1; start one with oob-issuer serve, or name it with --issuer
  $ issuer revoke nobody
  oob-issuer: no such authenticator
  [1]

# A test clock is said to be one, and the machine's is not moved

  $ grep -o "warning the clock is a test's" sandbox.log
  warning the clock is a test's
  $ sandbox
  $ issuer clock
  <time>, the machine's clock
  $ issuer clock advance 1s
  oob-issuer: this sandbox's clock is the machine's; oob-issuer serve --test-clock starts one whose clock can be moved
  [1]

# A database keeps its clock ahead, and is served with a test clock alone

  $ sandbox --test-clock --database issuer.sqlite
  $ issuer clock advance 1h30m
  <time>, a test's clock, 1h30m ahead of the machine's
  $ kill "$sandbox_pid"; wait "$sandbox_pid"
  $ oob-issuer serve --listen localhost:0 --database issuer.sqlite
  oob-issuer: cannot serve on localhost:0: the database issuer.sqlite was served with --test-clock, and its clock is 1h30m ahead: serve it with --test-clock again, or times in it would run backwards, or take another database
  [1]
  $ sandbox --test-clock --database issuer.sqlite
  $ issuer clock --json | field .offsetSeconds
  5400

# A database of another version is refused and left as it is

  $ sqlite() { python3 -c 'import sqlite3, sys; print(*sqlite3.connect("other.sqlite").execute(sys.argv[1]))' "$1"; }
  $ sqlite "CREATE TABLE grdb_migrations AS SELECT 'v1 enrollment' AS identifier"
  
  $ oob-issuer serve --listen localhost:0 --database other.sqlite
  oob-issuer: cannot serve on localhost:0: the database other.sqlite cannot be opened: another version of oob-issuer made it; take another database
  [1]
  $ sqlite 'SELECT name FROM sqlite_master'
  ('grdb_migrations',)
