What the agent logs of a payment that is approved, one that is denied and one that is refused.

  $ sandbox
  $ agent --log-format json
  $ enroll --name kitchen --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.
  $ approved="$(requested)" && denied="$(requested)"
  $ approve "$approved"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl deny "$denied" --delivery-timeout 60
  Denied USD 1.00 to CoffeeHouse2: the issuer took it (transStatus N). The request has no return URL.
  $ refused="$(issuer purchase --merchant CoffeeHouse2 --amount 100 --currency 840 --exponent 0)"
  $ is_refused() { oobctl fetch && oobctl show "$refused" --json | jq --exit-status '.delivery == "delivered"'; }
  $ until_true is_refused

# At level info each request has a line for each step of its way

  $ for acs in "$approved" "$denied" "$refused"; do oobctl show "$acs" --json >"$acs.json"; done
  $ stop_agent
  $ steps() {
  >     jq --raw-output --slurpfile of "$1.json" \
  >         'select(.request == $of[0].id or (.jti and .jti == $of[0].jti)) | .message' agent.log
  > }
  $ steps "$approved"
  request presented
  decided
  decision delivery ended
  $ steps "$denied"
  request presented
  decided
  decision delivery ended
  $ steps "$refused"
  request refused
  decision delivery ended

# A level leaves out what is below it

  $ : >agent.log
  $ agent --log-format json --log-level notice
  $ approve "$(requested)"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ stop_agent
  $ (($(wc -l <agent.log) > 0))
  $ field .level <agent.log | grep --invert-match -e notice -e warning -e error
  [1]
