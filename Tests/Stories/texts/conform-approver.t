`oob-conform approver` against the agent, which is in order, against approvers that are not, and against one in Python.

An agent that is started again whenever it ends, without its state if there is a file `forget`:

  $ export OOB_AGENT_SOCKET="$PWD/control.sock"
  $ keep_agent() {
  >   trap 'kill "$(cat agent.pid)"; exit' TERM
  >   while true; do
  >     if [[ -e forget ]]; then rm -rf state forget; fi
  >     oob-agent --state-dir "$PWD/state" --socket "$OOB_AGENT_SOCKET" >>agent.out 2>>agent.log </dev/null &
  >     echo $! >agent.pid
  >     wait $!
  >   done
  > }
  $ keep_agent & started+=($!)
  $ cat >is-started.sh <<'END'
  > status="$(oobctl status --json </dev/null)" && echo "$status" | jq --exit-status '.state != "starting"'
  > END
  $ cat >restart.sh <<'END'
  > old="$(cat agent.pid)"
  > kill "$old"
  > while kill -0 "$old" || ! sh is-started.sh; do sleep 0.05; done
  > END
  $ until_true sh is-started.sh

A new agent knows no issuer of the runs before it, nor their keys, so an issuer that gets the port of one of them does no
harm.

  $ new_agent() { touch forget && sh restart.sh >restarted.txt 2>&1; }

  $ ln -s "$TESTDIR/../../../conformance" conformance
  $ judge() {
  >   oob-conform approver --config conformance/tested/oob-agent.yaml --seed 7 "$@" </dev/null 2>commands.log |
  >     sed -E 's/, [0-9.]+ s$/, <seconds>/'
  > }
  $ APPROVE='oobctl approve "$ACS_TRANS_ID" || test $? = 75'
  $ DENY='oobctl deny "$ACS_TRANS_ID" || test $? = 75'

# The agent passes every case that can be shown

The case with a restart runs first and alone.

  $ judge --restart-command 'sh restart.sh' --case restarted-with-a-decision
  section  passed  failed  not shown
  10            1       0          0
  
  1 passed, 0 failed; seed 7, <seconds>
  $ judge --json all.json >all.txt
  $ jq '.cases[] | select(.verdict != "passed" and .verdict != "notShown") | {name, cause}' all.json
  $ jq --raw-output '.cases[] | select(.verdict == "notShown") | .cause' all.json | sort --unique
  it is about exponentPolicy: warn
  the approver's enrollment verifies its user
  the request lives for less than 60 s
  there is no command for `restart`
  with the parties of a run it is notAuthentic
  $ jq '(.cases | length) > 430, ([.cases[] | select(.verdict == "passed")] | length) > 415' all.json
  true
  true

# An enrollment that cannot verify its user is shown the cases for it

  $ new_agent
  $ judge --enroll-command 'oobctl enroll --issuer "$ISSUER" --code "$CODE" --authn-type presence' \
  >   --case user-verification-required --case user-verification-preferred \
  >   --case user-verification-required-and-possible --case payment-and-user-verification-required
  section  passed  failed  not shown
  6             1       0          1
  6.1           1       0          0
  8.2           1       0          0
  
  Not shown:
    user-verification-required-and-possible: the approver's enrollment cannot verify its user
  
  3 passed, 0 failed, 1 not shown; seed 7, <seconds>

# Each persona that signs something wrong is caught by the rule that it breaks

It answers by itself. Each is judged with a new agent.

  $ for persona in badSignature wrongKey wrongChallenge alteredAmount oldAssertion wrongOrigin wrongRpIdHash \
  >   wrongUserHandle noUserPresence counterRegression zeroCounter malformedAssertion crossOrigin; do
  >   echo "$persona:"
  >   new_agent
  >   judge --enroll-command "oobctl enroll --issuer \$ISSUER --code \$CODE --authn-type test --persona $persona" \
  >     --approve-command true --case approve --case sign-count-rises | grep sign-count-rises: || echo "exit status $?"
  > done
  badSignature:
    sign-count-rises: sent a decision for first that does not hold: signature: the signature is not the credential key's; section 8
  exit status 1
  wrongKey:
    sign-count-rises: sent a decision for first that does not hold: signature: the signature is not the credential key's; section 8
  exit status 1
  wrongChallenge:
    sign-count-rises: sent a decision for first that does not hold: challenge: challenge is not the one that was given out; section 8
  exit status 1
  alteredAmount:
    sign-count-rises: sent a decision for first that does not hold: challenge: challenge is not the one that was given out; section 8
  exit status 1
  oldAssertion:
    sign-count-rises: sent a decision for second that does not hold: challenge: challenge is not the one that was given out; section 8
  exit status 1
  wrongOrigin:
    sign-count-rises: sent a decision for first that does not hold: origin: origin is not http://localhost:<port>; section 8
  exit status 1
  wrongRpIdHash:
    sign-count-rises: sent a decision for first that does not hold: rpId: rpIdHash is not the SHA-256 of localhost; section 8
  exit status 1
  wrongUserHandle:
    sign-count-rises: sent a decision for first that does not hold: userHandle: userHandle is not the account's; section 8
  exit status 1
  noUserPresence:
    sign-count-rises: sent a decision for first that does not hold: userPresence: UP is not set; section 8
  exit status 1
  counterRegression:
    sign-count-rises: sent a decision for second that does not hold: signCount: signCount is not above 1; section 8
  exit status 1
  zeroCounter:
    sign-count-rises: sent a decision for first that does not hold: signCount: signCount is not above 0; section 8
  exit status 1
  malformedAssertion:
    sign-count-rises: sent a decision for first that does not hold: authenticatorData: authenticator data: ends too early; section 8
  exit status 1
  crossOrigin:
    sign-count-rises: sent a decision for first that does not hold: crossOrigin: crossOrigin is true; section 8
  exit status 1

# An approver that denies what is in order fails

  $ new_agent
  $ judge --case good --approve-command "$DENY"
  section  passed  failed  not shown
  6             0       1          0
  
  Failed:
    good: denied a good request behind the others of an answer with userDenied
  
  0 passed, 1 failed; seed 7, <seconds>
  [1]

# An approver that presents what is over fails

A list of all that was ever there, in the place of what is presented:

  $ new_agent
  $ judge --case exp-now --case good --pending-command 'oobctl list --all --json --limit 1000'
  section  passed  failed  not shown
  6             1       0          0
  6.1           0       1          0
  
  Failed:
    exp-now: presents a message that is expired
  
  1 passed, 1 failed; seed 7, <seconds>
  [1]

# A step that comes out otherwise fails its case

  $ new_agent
  $ judge --case deny --deny-command "$APPROVE" | grep deny:
    deny: approved first; section 10
  [1]
  $ judge --case options-rp-id-other --enroll-command true | grep options-rp-id-other:
    options-rp-id-other: enrolled, and should have refused to; section 4.1
  [1]

# Commands that do not do what they are for are no pass

  $ new_agent
  $ judge --case good --enroll-command 'exit 3'
  section  passed  failed  not shown
  6             0       1          0
  
  Could not be run:
    good: the command for `enroll` exited with status 3
  
  0 passed, 0 failed, 1 could not be run; seed 7, <seconds>
  [2]
  $ env --ignore-signal=CHLD oob-conform approver --config conformance/tested/oob-agent.yaml --case good \
  >   --enroll-command 'exit 3' </dev/null 2>commands.log | grep good:
    good: the command for `enroll` exited with status 3
  [2]
  $ judge --case good --enroll-command true
  section  passed  failed  not shown
  6             0       1          0
  
  Failed:
    good: its command for `enroll` is over, and no registration came; section 4.2
  
  0 passed, 1 failed; seed 7, <seconds>
  [1]
  $ oob-conform approver --enroll-command true </dev/null
  oob-conform: there is no command for `approve`: set it in the file of --config, or as --approve-command
  [2]

# The approver in Python passes every case that can be shown

It knows nothing of the agent except the protocol page. A batch fetch is advice, which it does not follow.

  $ new_agent
  $ PYTHON="$TESTDIR/../../../.venv/bin/python"
  $ "$PYTHON" -B conformance/tested/approver.py 0 >port 2>approver.log </dev/null & started+=($!)
  $ until_true test -s port
  $ export APPROVER="http://127.0.0.1:$(cat port)"
  $ judge --config conformance/tested/approver-py.yaml --json python.json >python.txt
  $ jq --raw-output '.cases[] | select(.verdict != "passed" and .verdict != "notShown") | .name' python.json
  batch
  $ jq '[.cases[] | select(.verdict == "passed")] | length > 420' python.json
  true
