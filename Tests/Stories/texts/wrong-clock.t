A machine's clock that is years ahead: nothing is deleted by it, and a person accepts it.

  $ "$(command -v cc || command -v clang)" -shared -fPIC -O2 -o shim.so "$TESTDIR/../wall_clock.c"

So many seconds ahead, as eight bytes: 0, and 800 days.

  $ set_right() { printf '\0\0\0\0\0\0\0\0' >clock; }
  $ set_ahead() { printf '\0\260\036\004\0\0\0\0' >clock; }
  $ shimmed() { LD_PRELOAD="$PWD/shim.so" WALL_CLOCK="$PWD/clock" "$@"; }
  $ accept_clock() { shimmed oob-agent --state-dir state --accept-clock; }
  $ doubts() {
  >   oobctl status --json | field '.reasons[]?'
  >   oobctl doctor --json | field '.[] | select(.id == "clockAhead") | .message'
  > }

# A clock that is years ahead deletes nothing

  $ sandbox
  $ set_right
  $ shimmed agent
  $ enroll --name payer
  <id 1>
  Enrolled at http://localhost:<port> as payer.
  $ acs="$(requested)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ doubts
  $ stop_agent

  $ set_ahead
  $ shimmed agent
  $ doubts
  clockAhead: this machine's clock says <time>, and only <time> is proven to have passed; nothing is deleted by that clock until two issuers, or the only one, have signed such a time, or, with the agent stopped, oob-agent --accept-clock takes it as it is
  clockAhead: this machine's clock says <time>, and only <time> is proven to have passed; nothing is deleted by that clock until two issuers, or the only one, have signed such a time, or, with the agent stopped, oob-agent --accept-clock takes it as it is
  $ oobctl status --json | field .state
  degraded
  $ grep -c 'the clock is ahead, and nothing is deleted by it' agent.log
  1
  $ accept_clock
  Error: another agent runs on this state: state/agent.lock is locked by process *; stop it, or use another directory (glob)
  [69]
  $ stop_agent

# A transaction that was decided before is still known

  $ set_right
  $ shimmed agent
  $ doubts
  $ again="$(issuer show "$acs" --json | jq '.transaction + {newJti: true, force: true}')"
  $ post purchases "$again" | field '.requests[].state'
  open
  $ is_duplicate() { oobctl fetch; journal duplicate | grep .; }
  $ until_true is_duplicate
  $ oobctl list --all --json | field '.[].state'
  approved
  $ journal presented | jq -s length
  1
  $ oobctl audit export | head -n 1 | field .entry
  auditKeyMade
  $ stop_agent

# A person accepts the clock, ahead or right again

  $ for set_clock in set_ahead set_right; do
  >   "$set_clock"
  >   accept_clock
  >   accept_clock
  >   shimmed agent
  >   doubts
  >   journal clockAccepted | jq -s length
  >   oobctl audit verify >/dev/null
  >   stop_agent
  > done
  Accepted, and written down in the journal. What was in doubt: clockAhead: this machine's clock says <time>, and only <time> is proven to have passed; nothing is deleted by that clock until two issuers, or the only one, have signed such a time, or, with the agent stopped, oob-agent --accept-clock takes it as it is.
  Next, start the agent.
  
  There was nothing to accept: the agent starts as it is.
  
  1
  Accepted, and written down in the journal. What was in doubt: this machine's clock says <time>, and it was <time> already.
  Next, start the agent.
  
  There was nothing to accept: the agent starts as it is.
  
  2
