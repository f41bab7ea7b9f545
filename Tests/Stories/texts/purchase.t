A purchase, from the question to the merchant.

  $ sandbox
  $ agent
  $ enroll --name kitchen --authn-type presence
  <id 1>
  Enrolled at http://localhost:<port> as kitchen.

# A request shows amount, merchant and date

  $ acs="$(requested)"
  $ oobctl show "$acs"
  Amount:     USD 1.00
  Merchant:   CoffeeHouse2
  Date:       <time> (+00:00)
  Issuer:     http://localhost:<port>
  Enrollment: kitchen
  Expires:    <time> (+00:00)
  acsTransId: <uuid 1>
  
  ID: <id 2>
  jti: <id 3>
  acsTransId: <uuid 1>
  State: pending
  Delivery: none
  Received: <time>
  Expires: <time>

# A request is decided once

  $ oobctl approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl approve "$acs"
  Error: the request <id 2> was approved already
  [7]
  $ oobctl deny "$acs"
  Error: the request <id 2> was approved already
  [7]
  $ oobctl list
  No request is pending.
  $ oobctl list --all
  ID                    ACSTRANSID                            AMOUNT    MERCHANT      ENROLLMENT  STATE
  <id 2>  <uuid 1>  USD 1.00  CoffeeHouse2  kitchen     approved, delivered
