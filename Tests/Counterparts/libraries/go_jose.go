// Signs the claims of standard input with go-jose, and writes the JWK Set, under a key that is thrown away.
//
// GO111MODULE=off GOPATH=/usr/share/gocode go run go_jose.go < claims.json
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"os"

	jose "gopkg.in/square/go-jose.v2"
	"gopkg.in/square/go-jose.v2/jwt"
)

type request struct {
	Nonce       string          `json:"nonce"`
	Transaction json.RawMessage `json:"transaction"`
	PublicKey   json.RawMessage `json:"publicKey"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var all json.RawMessage
	check(json.NewDecoder(os.Stdin).Decode(&all))
	var registered jwt.Claims
	check(json.Unmarshal(all, &registered))
	var own request
	check(json.Unmarshal(all, &own))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	sign := func(key interface{}, options *jose.SignerOptions) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
		check(err)
		text, err := jwt.Signed(signer).Claims(registered).Claims(own).CompactSerialize()
		check(err)
		return text
	}
	named := jose.JSONWebKey{Key: key, KeyID: "2026-1"}
	typed := (&jose.SignerOptions{}).WithType("oob-authn-request+jwt")
	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"jwks":     jose.JSONWebKeySet{Keys: []jose.JSONWebKey{named.Public()}},
		"whole":    jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "2026-1", Algorithm: "ES256", Use: "sig"}}},
		"bare":     jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public()}}},
		"named":    sign(named, typed),
		"untyped":  sign(named, nil),
		"nameless": sign(key, typed),
	})
}
