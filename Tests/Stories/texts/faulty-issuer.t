An agent at an issuer that fails: each decision is taken once.

`told` prints what stories of purchases have of the decision; the request has no refused assertions, and what came is
the first decision with the purchase's traceparent.

  $ told() {
  >     jq --compact-output '[.status, .transStatus, .decision.decision, .decision.conflicts,
  >         (.requests | length), (.requests[0].decision == .decision), .requests[0].refusedAssertions,
  >         (.traceparent != null and .traceparent == .decision.traceparent)]'
  > }
  $ traced() { purchase --traceparent "$(printf '00-%032x-%016x-01' "$SRANDOM" "$((SRANDOM + 1))")"; }
  $ are_delivered() { oobctl list --all --json | jq --exit-status 'all(.delivery == "delivered")'; }
  $ sign_count() { curl --silent "$ISSUER/sandbox/authenticators/$1" | field .signCount; }
  $ authenticator() { oobctl enrollments --json | field .[].authenticatorId; }

The agent's own memory stays below 64 MiB; under a sanitizer it is not its own.

  $ is_small() {
  >     [[ "$OOB_BIN_DIR" == *sanitize* ]] || awk '/^RssAnon:/ { exit $2 >= 64 * 1024 }' "/proc/$agent_pid/status"
  > }

# With a mix of all faults each decision is taken once, with the bytes that were sent first

With this seed the first twenty decisions meet each kind of fault, and the first fetches and the enrollment meet some.
An enrollment whose answer is lost needs a new code.

  $ sandbox --faults slow=0.2:200ms,drop-before=0.04,drop-after=0.06,500=0.04,503=0.03,503-retry-after=0.03:1s,\
  > garbage=0.04,truncated=0.04,endless=0.02,duplicate=0.4,reorder=0.4,seed=419
  $ agent
  $ until_true enroll --authn-type presence
  $ ids=() && touch statuses.txt
  $ for number in {1..20}; do ids+=("$(traced)"); done
  $ for number in {0..19}; do
  >     decision=approve
  >     ((number % 3)) || decision=deny
  >     oobctl "$decision" "${ids[number]}" --wait 60 --delivery-timeout 1 </dev/null 2>>decisions.log || echo "$?" >>statuses.txt
  > done
  $ grep --invert-match 75 statuses.txt
  [1]
  $ until_true are_delivered
  $ for acs in "${ids[@]}"; do issuer show "$acs" --json; done >stories.json
  $ told <stories.json | sort | uniq --count
       13 ["authenticated","Y","approve",0,1,true,null,true]
        7 ["notAuthenticated","N","deny",0,1,true,null,true]

Each kind was met, and answers were lost after the decision was taken. Nothing else was signed, nor anything twice.

  $ sed -n 's/.*call="decision [0-9]*" kind=\([^ ]*\).*/\1/p' sandbox.log | sort --unique
  500
  503
  503-retry-after
  drop
  endless
  garbage
  slow
  truncated
  $ jq --slurp 'map(.decision.repeats) | add > 0' stories.json
  true
  $ sign_count "$(authenticator)"
  13
  $ stop_agent

# A request is presented and decided once, whatever its fetch and its delivery meet

Faults of lists go with a fetch only.

  $ mkdir each && cd each
  $ sandbox
  $ agent
  $ enroll --name each --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as each.
  $ plan() { oob-issuer faults set --issuer "$ISSUER" "$@" >>faults.txt; }
  $ decided() {
  >     local acs
  >     acs="$(traced)"
  >     oobctl approve "$acs" --wait 60 --delivery-timeout 90 --json </dev/null | field .delivery && issuer show "$acs" --json | told
  > }
  $ for fault in status=500 status=502 status=503 status=503,retryAfter=1 status=302 kind=drop kind=garbage \
  >     kind=truncated kind=endless kind=drop,moment=after kind=slow,milliseconds=700; do
  >     plan --next "path=fetch,$fault" --next "path=decision,$fault" && decided
  > done | sort | uniq --count
       11 ["authenticated","Y","approve",0,1,true,null,true]
       11 delivered
  $ for kind in duplicate reorder full-list full-list-moving; do
  >     plan --next "path=fetch,kind=$kind" && decided
  > done | sort | uniq --count
        4 ["authenticated","Y","approve",0,1,true,null,true]
        4 delivered
  $ oobctl list --all --limit 1000 --json | jq length
  15
  $ sign_count "$(authenticator)"
  15
  $ is_small
  $ stop_agent
  $ cd ..

# Who waits for the issuer when the agent stops is told that the request is decided

  $ mkdir slow && cd slow
  $ sandbox --faults slow=1:30s,path=decision,seed=1
  $ agent
  $ enroll --name slow --authn-type presence
  <id 2>
  Enrolled at http://localhost:<port> as slow.
  $ acs="$(requested)"
  $ oobctl approve "$acs" --delivery-timeout 60 --json </dev/null >waiting.json 2>waiting.log & waiting=$!
  $ is_approved() { [[ "$(oobctl show "$acs" --json | field .state)" == approved ]]; }
  $ until_true is_approved
  $ kill -0 "$waiting"
  $ stop_agent
  $ wait "$waiting"
  [75]
  $ field '.state, .delivery' <waiting.json
  approved
  queued
  $ cat waiting.log
  $ cd ..

# Lists that stay full are fetched about once a second

Five requests are listed 100 times, of which two stay undecided, so that the lists stay full. `is_calm` looks for six
fetches that take three seconds, since `before` of them.

  $ fetches() { grep --count 'call="fetch ' sandbox.log; }
  $ has_five() { [[ "$(oobctl list --all --json | jq length)" == 5 ]]; }
  $ is_calm() {
  >     grep 'call="fetch ' sandbox.log | tail --lines=+"$((before + 1))" | tail --lines=6 | cut -d ' ' -f 1 >times.txt
  >     (($(wc -l <times.txt) == 6)) &&
  >         (($(date --date "$(tail --lines=1 times.txt)" +%s) - $(date --date "$(head --lines=1 times.txt)" +%s) >= 3))
  > }

First the cursor stays, then it moves each time, for which a sanitizer needs minutes.

  $ for kind in full-list full-list-moving; do
  >     [[ "$OOB_BIN_DIR" == *sanitize* ]] && kind=full-list
  >     mkdir "again-$kind-$SECONDS" && cd "$_"
  >     sandbox --faults "$kind=1,path=fetch,seed=1"
  >     agent
  >     enroll --authn-type presence >enrolled.txt 2>&1
  >     for number in 1 2 3; do decided; done
  >     for number in 4 5; do purchase >>undecided.txt; done
  >     until_true has_five
  >     before="$(fetches)"
  >     until_true is_calm
  >     decided
  >     is_small || echo 'takes too much memory'
  >     stop_agent
  >     cd ..
  > done
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
  delivered
  ["authenticated","Y","approve",0,1,true,null,true]
