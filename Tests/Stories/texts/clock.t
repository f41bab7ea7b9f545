An agent with a test clock: what is due happens when the clock is advanced, and no test waits for it.

  $ sandbox --test-clock
  $ agent --test-clock --retention 2
  $ enroll --authn-type test --name payer
  <id 1>
  Enrolled at http://localhost:<port> as payer.
  Warning: enrollment <id 1> is a test authenticator

# A request of ten minutes has expired when the advance returns

  $ acs="$(requested)"
  $ oobctl clock advance 9m
  Now: <time>
  Clock: a test's, 9m ahead of the machine's
  $ oobctl show "$acs" --json | field .state
  pending
  $ before="$(oobctl clock --json | field .now)"
  $ after="$(oobctl clock advance 1m --json | field .now)"
  $ [[ "$before" < "$after" ]]
  $ oobctl show "$acs" --json | field .state
  expired
  $ oobctl approve "$acs"
  Error: the request <id 2> has expired
  [7]
  $ oobctl audit export | jq -c 'select(.entry | . == "clockAdvanced" or . == "expired") | [.entry, .seconds, .offset]'
  ["clockAdvanced",540,540]
  ["clockAdvanced",60,600]
  ["expired",null,null]
  $ grep -c 'the test clock was advanced' agent.log
  2

An issuer whose clock goes along is served as before.

  $ issuer clock advance 10m
  <time>, a test's clock, 10m ahead of the machine's
  $ approve "$(requested)"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl audit verify >/dev/null

# What shows the agent's state says that its clock is a test's

  $ oobctl clock
  Now: <time>
  Clock: a test's, 10m ahead of the machine's
  $ oobctl clock --json | field 'del(.now)'
  {
    "isTest": true,
    "offsetSeconds": 600
  }
  $ oobctl status | grep -i 'test clock\|--test-clock'
  Test clock: <time>, 10m ahead
  Warning (medium): the agent's clock is a test's (--test-clock): it says <time>, which is 10m ahead of this machine's
  $ oobctl status --json | field .clock.offsetSeconds
  600
  $ oobctl doctor --json | jq -c '.[] | select(.id == "testClock") | [.severity, .message]'
  ["medium","the agent's clock is a test's (--test-clock): it says <time>, which is 10m ahead of this machine's"]

What is shown and recorded of a request has nothing of it.

  $ oobctl show "$(requested)" --json | field .text | grep -i clock
  [1]

# A restart keeps the advance

  $ oobctl clock advance 80m --json | field .offsetSeconds
  5400
  $ { kill -KILL "$agent_pid" && wait "$agent_pid"; } 2>/dev/null
  [137]

Without the flag the agent does not start.

  $ oob-agent --state-dir state --socket other.sock
  Error: this state's clock was advanced by 1h30m, so that its times lie in the future: start with --test-clock, or use another state directory
  [78]
  $ agent --test-clock --retention 2
  $ oobctl clock advance 1s --json | field .offsetSeconds
  5401
  $ issuer clock advance 80m1s --json | field .offsetSeconds
  5401
  $ approve "$(requested)"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.

# A waiting command waits on when the clock is advanced

  $ approve --next --wait 120 >waited 2>&1 &
  $ waiting=$!
  $ for _ in 1 2 3 4 5; do oobctl clock advance 1h && issuer clock advance 1h; done | tail -n 1
  <time>, a test's clock, 6h30m1s ahead of the machine's
  $ purchase
  <uuid 1>
  $ wait "$waiting"; cat waited
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.

# Retention follows the test clock

  $ acs="$(requested)"
  $ oobctl deny --delivery-timeout 60 "$acs"
  Denied USD 1.00 to CoffeeHouse2: the issuer took it (transStatus N). The request has no return URL.
  $ oobctl show "$acs" --json | field .state
  denied
  $ oobctl clock advance 3d
  Now: <time>
  Clock: a test's, 3d6h30m1s ahead of the machine's
  $ is_deleted() { oobctl show "$acs"; (($? == 3)); }
  $ until_true is_deleted
  $ stop_agent

# The journal's retention counts days of the test clock

In the end the first entry is 31 days old, and the second 29. The first goes with all before it; the newest stays.

  $ rm -r state
  $ agent --test-clock --audit-retention 30
  $ for duration in 2d 1s 29d; do oobctl clock advance "$duration" --json | field .offsetSeconds; done
  172800
  172801
  2678401
  $ has_dropped() { [[ "$(journal clockAdvanced | field .seconds)" != 172800* ]]; }
  $ until_true has_dropped
  $ journal clockAdvanced | field .seconds
  1
  2505600

# A backup has the advance with it

  $ oobctl backup copy.db
  Wrote * bytes to copy.db. The agent's secret is not in it: keep that elsewhere. (glob)
  $ stop_agent
  $ mv state first
  $ oob-agent --state-dir state --restore copy.db 2>/dev/null
  $ oob-agent --state-dir state --socket other.sock --secret-file first/secret
  Error: this state's clock was advanced by 31d1s, so that its times lie in the future: start with --test-clock, or use another state directory
  [78]
  $ agent --test-clock --secret-file "$PWD/first/secret"
  $ oobctl clock --json | field .offsetSeconds
  2678401

# A duration is refused with what is allowed

  $ for duration in 0s -10m 10 10x '' 5m1h 401d 99999999999999999999d; do result oobctl clock advance "$duration"; done
  [64] Error: a clock moves by 1s at least
  [64] Error: a clock only goes forwards: give a time above 0
  [64] Error: "10" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  [64] Error: "10x" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  [64] Error: "" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  [64] Error: "5m1h" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  [64] Error: all advances of a clock come to 400d at most
  [64] Error: "99999999999999999999d" must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m
  $ oobctl clock --json | field .offsetSeconds
  2678401
  $ oobctl clock advance 368d
  Now: <time>
  Clock: a test's, 399d1s ahead of the machine's
  $ oobctl clock advance 1d
  Error: all advances of a clock come to 400d at most, and this one is 399d1s ahead; with a new state directory it begins anew
  [64]
  $ oobctl clock advance 86399s
  Now: <time>
  Clock: a test's, 400d ahead of the machine's

# Only test enrollments go with a test clock

  $ enroll --authn-type presence
  Error: authnType presence is not allowed with --test-clock: only authnType test is, or enroll at an agent without a test clock
  [64]
  $ stop_agent
  $ rm -r state
  $ agent
  $ enroll --authn-type presence --name payer
  <id 3>
  Enrolled at http://localhost:<port> as payer.

The machine's clock cannot be advanced.

  $ oobctl clock --json | field 'del(.now)'
  {
    "isTest": false,
    "offsetSeconds": 0
  }
  $ oobctl status --json | field 'has("clock")'
  false
  $ oobctl clock advance 10m
  Error: this agent's clock is the machine's: only that of an agent that runs with --test-clock can be advanced
  [64]
  $ stop_agent

The agent does not start with a test clock. That has changed nothing, and an enrollment that has ended does not matter.

  $ oob-agent --state-dir state --socket other.sock --test-clock
  Error: a state with an enrollment that is not authnType test takes no --test-clock: enrollment <id 3> is presence. Use another state directory for tests, or unenroll it first
  [78]
  $ agent
  $ oobctl unenroll payer --local
  Unenrolled payer.
  $ stop_agent
  $ agent --test-clock
  $ enroll --authn-type test --name payer
  <id 4>
  Enrolled at http://localhost:<port> as payer.
  Warning: enrollment <id 4> is a test authenticator
